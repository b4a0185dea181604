# SPDX-License-Identifier: Apache-2.0
"""Documents for the schemas of tests/bench/schema: each is made by a function, the same in each run, and most are valid."""

import copy
import itertools


def _leaves(value, path=()):
    """The paths of all values that hold no others, in order."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    else:
        yield path
        return
    for key, part in parts:
        yield from _leaves(part, (*path, key))


def _spoiled(document, nth):
    """A copy in which one leaf is of a type that hardly any schema has there."""
    made = copy.deepcopy(document)
    paths = list(_leaves(made))
    *way, last = paths[nth % len(paths)]
    at = made
    for key in way:
        at = at[key]
    at[last] = {"unexpected": [None]}
    return made


def with_faults(documents):
    """After each third document a copy with one fault, at another place each time."""
    for nth, document in enumerate(documents):
        yield document
        if nth % 3 == 2:
            yield _spoiled(document, 7 * nth)


def package(nth):
    return {
        "name": f"example-{nth}", "version": f"1.{nth}.0", "description": "An example of a package " * (nth % 3 + 1),
        "keywords": ["json", "schema", "bench", f"key{nth}"], "homepage": "https://example.com/package", "license": "Apache-2.0",
        "bugs": {"url": "https://example.com/bugs"}, "author": {"name": "A. Author", "email": "author@example.com"},
        "contributors": [f"Person {i} <person{i}@example.com>" for i in range(nth % 5)], "files": ["dist", "src/**/*.js"], "type": "module",
        "main": "dist/index.js", "exports": {".": {"import": "./dist/index.mjs", "require": "./dist/index.cjs"}, "./sub": "./dist/sub.js"},
        "bin": {f"example-{nth}": "bin/run.js"}, "repository": {"type": "git", "url": "https://example.com/git/example.git"},
        "scripts": {"build": "make", "test": "make test", **{f"step:{i}": f"run step {i}" for i in range(nth % 7)}},
        "dependencies": {f"dependency-{i}": f"^{i}.2.3" for i in range(nth % 13)},
        "devDependencies": {f"@scope/tool-{i}": f"~{i}.0.1" for i in range(nth % 17)}, "engines": {"node": ">=18"}, "private": nth % 2 == 0,
    }


def workflow(nth):
    jobs = {}
    for job in range(1 + nth % 3):
        steps = [{"uses": "actions/checkout@v4", "with": {"fetch-depth": 0}}]
        steps += [{"name": f"Step {i}", "run": f"make step-{i}", "env": {"LEVEL": i}, "if": "${{ success() }}"} for i in range(2 + nth % 6)]
        jobs[f"job_{job}"] = {"runs-on": "ubuntu-latest", "timeout-minutes": 20, "steps": steps, "permissions": {"contents": "read"},
                              "strategy": {"fail-fast": False, "matrix": {"version": [8, 9, 10], "os": ["a", "b"]}}}
        if job:
            jobs[f"job_{job}"]["needs"] = f"job_{job - 1}"
    return {"name": f"Build {nth}", "on": {"push": {"branches": ["main"]}, "pull_request": {"types": ["opened", "reopened"]}, "workflow_dispatch": {}},
            "env": {"CI": True}, "concurrency": {"group": "${{ github.ref }}", "cancel-in-progress": True}, "jobs": jobs}


def compose(nth):
    services = {f"service{i}": {
        "image": f"example/{i}:1.{nth}", "restart": "unless-stopped", "ports": ["8080:80", {"target": 443, "published": 8443, "protocol": "tcp"}],
        "environment": {"A": "1", "B": i, "C": None}, "volumes": ["data:/data", {"type": "bind", "source": "./x", "target": "/x", "read_only": True}],
        "depends_on": {f"service{i - 1}": {"condition": "service_healthy"}} if i else [], "networks": ["front", "back"],
        "healthcheck": {"test": ["CMD", "true"], "interval": "30s", "retries": 3}, "labels": ["a=b", "c=d"],
        "deploy": {"replicas": 2, "resources": {"limits": {"cpus": "0.5", "memory": "64M"}}}} for i in range(1 + nth % 5)}
    return {"name": f"project{nth}", "services": services, "networks": {"front": {}, "back": {"driver": "bridge"}}, "volumes": {"data": None}}


def feature(nth):
    ring = [[i + nth / 10, (i * i) % 90 + 0.5] for i in range(40)]
    shapes = [{"type": "Point", "coordinates": [nth + 0.25, 51.5]}, {"type": "LineString", "coordinates": ring},
              {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}, {"type": "MultiPolygon", "coordinates": [[[*ring, ring[0]]]] * 2}]
    return {"type": "Feature", "id": nth, "geometry": shapes[nth % 4], "properties": {"name": f"Place {nth}", "population": 1000 * nth}}


def geography(nth):
    return {"type": "FeatureCollection", "features": [feature(i) for i in range(nth, nth + 25)]}


def typescript(nth):
    return {
        "compilerOptions": {
            "target": ("es2020", "ESNext", "es5")[nth % 3], "module": ("commonjs", "NodeNext", "ES2022")[nth % 3], "moduleResolution": "node",
            "lib": ["es2020", "DOM", "DOM.Iterable"][:1 + nth % 3], "strict": True, "jsx": "react-jsx", "outDir": "dist", "rootDir": "src",
            "declaration": True, "sourceMap": nth % 2 == 0, "esModuleInterop": True, "skipLibCheck": True, "types": ["node"],
            "paths": {"@/*": ["src/*"]}, "baseUrl": ".", "noEmit": False},
        "include": ["src/**/*.ts", "tests"], "exclude": ["node_modules"], "references": [{"path": f"../part{i}"} for i in range(nth % 4)]}


def chart(nth):
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json", "description": f"Chart {nth}",
        "data": {"values": [{"a": chr(65 + i), "b": 10 * i + nth} for i in range(20)]},
        "mark": ({"type": "bar", "tooltip": True}, "line", "point")[nth % 3],
        "encoding": {"x": {"field": "a", "type": "nominal", "axis": {"labelAngle": 0}},
                     "y": {"field": "b", "type": "quantitative", "aggregate": "sum", "scale": {"zero": False}},
                     "color": {"condition": {"test": "datum.b > 20", "value": "red"}, "value": "steelblue"}}}


def interface(nth):
    def operation(i):
        return {"operationId": f"operation{i}", "tags": ["pets"], "parameters": [
            {"name": "limit", "in": "query", "required": False, "schema": {"type": "integer", "maximum": 100}}],
            "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}},
                          "default": {"description": "error"}}}
    return {"openapi": "3.1.0", "info": {"title": f"API {nth}", "version": "1.0.0"}, "servers": [{"url": "https://api.example.com/v1"}],
            "paths": {f"/pets/{i}": {"get": operation(i), "post": operation(100 + i)} for i in range(3 + nth)},
            "components": {"schemas": {"Pet": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}},
                           "securitySchemes": {"key": {"type": "apiKey", "name": "k", "in": "header"}}}}


def updates(nth):
    return {"extends": ["config:recommended"], "labels": ["dependencies"], "timezone": "Europe/Berlin", "schedule": ["before 5am on monday"],
            "prHourlyLimit": nth % 10, "packageRules": [{"matchPackageNames": [f"name{i}"], "enabled": i % 2 == 0, "groupName": "group"} for i in range(nth % 8)]}


def of(make, count):
    return list(with_faults(itertools.islice(map(make, itertools.count()), count)))
