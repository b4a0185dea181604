// Checks manifests on stdin as an API server decodes them: each document by the type of its kind, without unknown fields.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func typed(version, kind string) any {
	switch version + " " + kind {
	case "v1 Namespace":
		return &core.Namespace{}
	case "v1 Service":
		return &core.Service{}
	case "v1 Secret":
		return &core.Secret{}
	case "apps/v1 Deployment":
		return &apps.Deployment{}
	case "apps/v1 StatefulSet":
		return &apps.StatefulSet{}
	case "networking.k8s.io/v1 NetworkPolicy":
		return &networking.NetworkPolicy{}
	case "policy/v1 PodDisruptionBudget":
		return &policy.PodDisruptionBudget{}
	case "autoscaling/v2 HorizontalPodAutoscaler":
		return &autoscaling.HorizontalPodAutoscaler{}
	}
	return nil
}

func main() {
	all, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	count, status := 0, 0
	for _, text := range strings.Split("\n"+string(all), "\n---\n") {
		var kind meta.TypeMeta
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
			fmt.Println("not YAML:", err)
			os.Exit(1)
		}
		object := typed(kind.APIVersion, kind.Kind)
		if object == nil {
			fmt.Println("unknown kind:", kind.APIVersion, kind.Kind)
			status = 1
		} else if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
			fmt.Printf("%s: %v\n", kind.Kind, err)
			status = 1
		}
		count++
	}
	fmt.Println(count, "objects")
	if count == 0 {
		status = 1
	}
	os.Exit(status)
}
