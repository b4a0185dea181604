# SPDX-License-Identifier: Apache-2.0
"""The objects of compose/kubernetes, from the tables of daemons and edges.

Every server has a Service with an address of its own, which stays when its pod is replaced, because a daemon looks up a name when
it starts.  Executors have one for each pod, so that a gateway can choose between them; overlays state their number.
"""

import base64
import os
import re

import rows

SAFE, GUESTS = "cloister", "cloister-guests"  # namespaces: Pod Security "restricted" and "privileged"
HTTP_PORT = 8765
HA_REPLICAS = {"gateway": 2, "validator": 2, "executor": 3}
LABEL = "app.kubernetes.io/name"
with open(os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "CMakeLists.txt"), encoding="utf-8") as lists:
    VERSION = re.search(r"^project\(cloister VERSION ([\d.]+)", lists.read(), re.M)[1]


def space_of(name):
    return GUESTS if name in rows.GUESTS else SAFE


def meta(name, space=None, **more):
    return {"name": name, **({"namespace": space} if space else {}), "labels": {LABEL: name, "app.kubernetes.io/part-of": "cloister"},
            **more}


def document(version, kind, metadata, **rest):
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}


def places_of(server, replicas):
    """Addresses for its clients."""
    if server in rows.GUESTS:
        return ",".join(f"tcp://{server}-{i}.{space_of(server)}:{rows.PORT}" for i in range(replicas))
    return f"tcp://{server}.{space_of(server)}:{rows.PORT}"


def environment(name, replicas):
    env = [{"name": "CLOISTER_KEYS", "value": "/run/keys"}, {"name": "CLOISTER_METRICS", "value": "/run/cloister/"}]
    # A daemon with a store of its own keeps its name "1", which is part of the store's path.
    if rows.PEERS[name]["state"] != "OWN_STATE" or name in rows.GUESTS:
        env.append({"name": "CLOISTER_INSTANCE", "value": "%H"})
    return env + [{"name": f"CLOISTER_{name}_CONNECT_{server}".upper(), "value": places_of(server, replicas)}
                  for server in rows.servers_of(name)]


def arguments(name):
    flags = [f"--listen=tcp://0.0.0.0:{rows.PORT}"] if name in rows.SERVERS else []
    if name == "gateway":
        flags = ["--transport=http", f"--listen=0.0.0.0:{HTTP_PORT}", "--allowed-hosts=*", "--credentials=/run/credentials"]
    if name in rows.GUESTS:
        flags += ["--own-cgroup", "--require-layers=all,-landlock_scopes"]
    return [name] + flags


def security(name, capabilities):
    if name not in rows.GUESTS:
        return {"runAsNonRoot": True, "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}
    # The API refuses allowPrivilegeEscalation: false beside SYS_ADMIN; the daemon sets no_new_privs itself.
    return {"readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"], "add": capabilities},
            "seccompProfile": {"type": "Localhost", "localhostProfile": "cloister/executor.json"}}


def volumes_of(name):
    """Pairs of a volume, or None for a claim, and its mount."""
    # Root owns a mounted volume; the daemon makes its own directory in it.
    own = "/var/lib/cloister"
    found = [({"name": "run", "emptyDir": {"medium": "Memory"}}, {"name": "run", "mountPath": "/run/cloister"}),
             ({"name": "tmp", "emptyDir": {}}, {"name": "tmp", "mountPath": "/tmp"}),
             ({"name": "keys", "secret": {"secretName": name + "-keys", "defaultMode": 0o440}},
              {"name": "keys", "mountPath": "/run/keys", "readOnly": True})]
    if name == "gateway":
        found.append(({"name": "credentials", "secret": {"secretName": "credentials", "defaultMode": 0o440}},
                      {"name": "credentials", "mountPath": "/run/credentials", "readOnly": True}))
    state = rows.PEERS[name]["state"]
    if state == "OWN_STATE":
        found.append((None, {"name": "state", "mountPath": own}))
    elif state == "SHARED_STATE":
        found.append(({"name": "state", "emptyDir": {}}, {"name": "state", "mountPath": own}))
    return found


def container(name, capabilities):
    health = {"exec": {"command": [f"/usr/libexec/cloister/cloister-{name}", "--healthy"]}}
    ports = [{"name": "bus", "containerPort": rows.PORT}] if name in rows.SERVERS else []
    ready = dict(health, periodSeconds=5, timeoutSeconds=5)
    if name == "gateway":
        ports.append({"name": "http", "containerPort": HTTP_PORT})
        ready = {"httpGet": {"path": "/readyz", "port": "http"}, "periodSeconds": 5, "timeoutSeconds": 5}
    guests = name in rows.GUESTS
    return {"name": name, "image": "cloister-executor" if guests else "cloister", "imagePullPolicy": "IfNotPresent",
            "args": arguments(name), "env": environment(name, 1), **({"ports": ports} if ports else {}),
            "securityContext": security(name, capabilities),
            "resources": {"requests": {"cpu": "1", "memory": "4Gi"}, "limits": {"memory": "4Gi"}} if guests else
            {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
            "startupProbe": dict(health, periodSeconds=2, failureThreshold=30, timeoutSeconds=5),
            "livenessProbe": dict(health, periodSeconds=10, timeoutSeconds=5), "readinessProbe": ready,
            "volumeMounts": [mount for _, mount in volumes_of(name)]}


def pod(name, capabilities):
    uid = rows.UIDS[name]
    users = {} if name in rows.GUESTS else {"securityContext": {
        "runAsUser": uid, "runAsGroup": uid, "fsGroup": uid, "fsGroupChangePolicy": "OnRootMismatch"}}
    return {"metadata": {"labels": meta(name)["labels"]}, "spec": {
        "automountServiceAccountToken": False, "enableServiceLinks": False, "terminationGracePeriodSeconds": 30, **users,
        "containers": [container(name, capabilities)], "volumes": [volume for volume, _ in volumes_of(name) if volume]}}


def workload(name, capabilities):
    selector = {"matchLabels": {LABEL: name}}
    if rows.PEERS[name]["state"] != "OWN_STATE":
        return document("apps/v1", "Deployment", meta(name, space_of(name)), spec={
            "replicas": 1, "selector": selector, "strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
            "template": pod(name, capabilities)})
    claim = {"metadata": {"name": "state"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {
        "storage": "1Gi" if name in rows.GUESTS else "20Gi"}}}}
    return document("apps/v1", "StatefulSet", meta(name, space_of(name)), spec={
        "replicas": 1, "serviceName": name, "selector": selector, "template": pod(name, capabilities),
        **({"podManagementPolicy": "Parallel"} if name in rows.GUESTS else {}), "volumeClaimTemplates": [claim]})


def bus_port():
    return [{"name": "bus", "port": rows.PORT, "targetPort": "bus"}]


def service(name, pod_name=None):
    selector = {"statefulset.kubernetes.io/pod-name": pod_name} if pod_name else {LABEL: name}
    ports = [{"name": "http", "port": 80, "targetPort": "http"}] if name == "gateway" else bus_port()
    # A pod that is not ready may still run what its clients wait for.
    early = {} if name == "gateway" else {"publishNotReadyAddresses": True}
    return document("v1", "Service", meta(pod_name or name, space_of(name)), spec={"selector": selector, **early, "ports": ports})


def services(name):
    if name not in rows.GUESTS:
        return [service(name)]
    headless = document("v1", "Service", meta(name, space_of(name)), spec={
        "clusterIP": "None", "selector": {LABEL: name}, "publishNotReadyAddresses": True, "ports": bus_port()})
    return [headless, service(name, name + "-0")]


def peer_of(name):
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": space_of(name)}},
            "podSelector": {"matchLabels": {LABEL: name}}}


def policy(name):
    """The rows of edges.def, and nothing else."""
    bus = [{"protocol": "TCP", "port": rows.PORT}]
    ingress = [{"from": [peer_of(client) for client in rows.clients_of(name)], "ports": bus}] if rows.clients_of(name) else []
    if name == "gateway":
        ingress.append({"ports": [{"protocol": "TCP", "port": HTTP_PORT}]})
    egress = []
    if rows.servers_of(name):
        egress = [{"to": [peer_of(server) for server in rows.servers_of(name)], "ports": bus},
                  {"to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}}],
                   "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}]
    return document("networking.k8s.io/v1", "NetworkPolicy", meta(name, space_of(name)), spec={
        "podSelector": {"matchLabels": {LABEL: name}}, "policyTypes": ["Ingress", "Egress"], "ingress": ingress, "egress": egress})


def namespaces():
    for space, level in ((SAFE, "restricted"), (GUESTS, "privileged")):
        yield document("v1", "Namespace", {"name": space, "labels": {"pod-security.kubernetes.io/enforce": level}})
        yield document("networking.k8s.io/v1", "NetworkPolicy", {"name": "deny", "namespace": space}, spec={
            "podSelector": {}, "policyTypes": ["Ingress", "Egress"]})


# ---- overlays ----

def patch(name, spec):
    kind = "StatefulSet" if rows.PEERS[name]["state"] == "OWN_STATE" else "Deployment"
    return document("apps/v1", kind, {"name": name, "namespace": space_of(name)}, spec=spec)


def ha_patches():
    guests = rows.GUESTS[0]
    for name in rows.PEERS:
        template = {"spec": {"topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {LABEL: name}}}]}}
        if guests in rows.servers_of(name):
            template["spec"]["containers"] = [{"name": name, "env": [{
                "name": f"CLOISTER_{name}_CONNECT_{guests}".upper(), "value": places_of(guests, HA_REPLICAS[guests])}]}]
        yield patch(name, {"replicas": HA_REPLICAS.get(name, 1), "template": template})


def ha_objects():
    for name in rows.GUESTS:
        for i in range(1, HA_REPLICAS[name]):
            yield service(name, f"{name}-{i}")
    for name in rows.PEERS:
        # A store has one pod, and only a person may decide that it can be away.
        budget = {"maxUnavailable": 1 if name in HA_REPLICAS else 0}
        yield document("policy/v1", "PodDisruptionBudget", meta(name, space_of(name)), spec={
            **budget, "selector": {"matchLabels": {LABEL: name}}})
    for name in sorted(set(HA_REPLICAS) - set(rows.GUESTS)):
        yield document("autoscaling/v2", "HorizontalPodAutoscaler", meta(name, SAFE), spec={
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicas": HA_REPLICAS[name], "maxReplicas": 8, "behavior": {"scaleDown": {"stabilizationWindowSeconds": 600}},
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}]})


def kustomization(**content):
    return [{"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", **content}]


def images():
    return [{"name": image, "newTag": VERSION} for image in ("cloister", "cloister-executor")]


def files(note, capabilities):
    """Paths below compose/ and their texts."""
    import yaml

    documents = {"base/namespaces.yaml": list(namespaces()), "overlays/ha/objects.yaml": list(ha_objects()),
                 "overlays/ha/patches.yaml": list(ha_patches())}
    for name in rows.PEERS:
        documents[f"base/{name}.yaml"] = [workload(name, capabilities), *services(name), policy(name)]
    documents["base/kustomization.yaml"] = kustomization(
        resources=["namespaces.yaml"] + [name + ".yaml" for name in rows.PEERS], images=images())
    documents["overlays/single/kustomization.yaml"] = kustomization(resources=["../../base"])
    documents["overlays/ha/kustomization.yaml"] = kustomization(
        resources=["../../base", "objects.yaml"], patches=[{"path": "patches.yaml"}])
    return {"kubernetes/" + path: note + yaml.safe_dump_all(content, sort_keys=False, width=120, default_flow_style=False)
            for path, content in sorted(documents.items())}


def secrets(directory):
    """The Secrets of all daemons, from what compose/image/secrets made: each its own key and the public keys of its peers."""
    import yaml

    def read(path):
        with open(os.path.join(directory, path), "rb") as file:
            return base64.b64encode(file.read()).decode()

    found = []
    for name in rows.PEERS:
        data = {name + ".key": read(f"keys/{name}.key")}
        for near in sorted(set(rows.servers_of(name) + rows.clients_of(name))):
            data[near + ".pub"] = read(f"keys/{near}.pub")
        found.append(document("v1", "Secret", meta(name + "-keys", space_of(name)), type="Opaque", data=data))
    found.append(document("v1", "Secret", meta("credentials", SAFE), type="Opaque", data={"tokens": read("credentials/tokens")}))
    return yaml.safe_dump_all(found, sort_keys=False)
