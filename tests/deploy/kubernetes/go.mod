module cloister/deploy/kubernetes

go 1.24.0

require (
	k8s.io/api v0.34.2
	k8s.io/apimachinery v0.34.2
	sigs.k8s.io/yaml v1.6.0
)
