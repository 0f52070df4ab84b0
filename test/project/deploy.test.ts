import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../../src/config.ts";
import { findProgram } from "../e2e/topology.ts";
import { composeFile, kubernetes } from "./deploy-schemas.ts";

const errorsOf = (schema: TSchema, value: unknown) =>
  [...Value.Errors(schema, value)].map(({ path, message }) => `${path}: ${message}`);

/** Every setting that a file gives has to be one that Kiln reads: each is given in turn and must change the settings. */
function expectSettings(variables: Readonly<Record<string, string>>): void {
  const base = JSON.stringify(loadConfig({}, {}));
  for (const [name, value] of Object.entries(variables)) {
    expect([name, JSON.stringify(loadConfig({}, { [name]: value })) !== base]).toEqual([name, true]);
  }
}

describe("deploy/compose.yaml", () => {
  interface Service {
    readonly image: string;
    readonly environment?: Readonly<Record<string, string>>;
    readonly command?: readonly string[];
    readonly read_only?: boolean;
    readonly volumes?: readonly string[];
    readonly deploy?: { readonly replicas: number };
    readonly build?: { readonly args: Readonly<Record<string, string>> };
  }
  const file = parse(readFileSync("deploy/compose.yaml", "utf8"), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
  };
  const service = (name: string) => file.services[name] as Service;

  it("is what the Compose specification says", () => {
    // Fields of one's own are allowed at the top.
    const known = Object.fromEntries(Object.entries(file).filter(([name]) => !name.startsWith("x-")));
    expect(errorsOf(composeFile, known)).toEqual([]);
    expect(errorsOf(composeFile, { services: { kiln: { comand: ["x"] } } })).not.toEqual([]);
  });

  it("gives settings that there are, two servers and a farm, and a cache folder that is all they write", () => {
    for (const name of ["kiln", "worker"]) {
      const { environment = {}, read_only, volumes, deploy, build } = service(name);
      expectSettings(Object.fromEntries(Object.entries(environment).map(([k, v]) => [k, v.replace(/^\$.*/, "given")])));
      expect({ read_only, volumes, replicas: deploy?.replicas }).toEqual({
        read_only: true,
        volumes: ["/var/cache/kiln"],
        replicas: 2,
      });
      expect(build?.args.KILN_PACKAGES?.split(" ").sort()).toEqual(["bullmq", "ioredis"]);
    }
    expect(service("worker").command).toEqual(["node", "dist/kiln.js", "worker"]);
    // The queue's server may drop nothing, the cache's has to.
    expect(service("queue").command?.join(" ")).toContain("--maxmemory-policy noeviction");
    expect(service("cache").command?.join(" ")).toContain("--maxmemory-policy allkeys-lru");
    const { KILN_REDIS = "", KILN_SHARED_CACHE = "" } = service("kiln").environment ?? {};
    expect([new URL(KILN_REDIS).hostname, new URL(KILN_SHARED_CACHE).hostname]).toEqual(["queue", "cache"]);
  });

  it.skipIf(findProgram("haproxy") === undefined)("has a proxy that takes its configuration", () => {
    const done = spawnSync("haproxy", ["-c", "-f", "deploy/haproxy.cfg"], { encoding: "utf8" });
    expect([done.status, done.stderr]).toEqual([0, ""]);
  });
});

interface Labels {
  readonly [name: string]: string;
}
interface Container {
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Labels;
  readonly spec: {
    readonly selector?: Labels & { readonly matchLabels?: Labels };
    readonly podSelector?: { readonly matchLabels: Labels };
    readonly ports?: readonly { readonly targetPort: string | number }[];
    readonly scaleTargetRef?: { readonly name: string };
    readonly triggers?: readonly { readonly metadata: Labels; readonly authenticationRef: { readonly name: string } }[];
    readonly template?: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly Container[];
        readonly volumes?: readonly { readonly name: string }[];
      };
    };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

describe("deploy/kubernetes", () => {
  const manifests = readdirSync("deploy/kubernetes").flatMap((file) =>
    parseAllDocuments(readFileSync(`deploy/kubernetes/${file}`, "utf8")).map((document) => {
      if (document.errors[0] !== undefined) throw document.errors[0];
      return document.toJS() as Manifest;
    }),
  );
  const ofKind = (...kinds: string[]) => manifests.filter(({ kind }) => kinds.includes(kind));
  const pods = ofKind("Deployment", "StatefulSet");
  const labelsOf = (pod: Manifest) => pod.spec.template?.metadata.labels ?? {};
  const chosen = (labels: Labels) =>
    pods.filter((pod) => Object.entries(labels).every(([name, value]) => labelsOf(pod)[name] === value));

  it("is what the API says of each kind", () => {
    for (const manifest of manifests) {
      const schema = kubernetes[manifest.kind];
      expect([manifest.kind, schema !== undefined]).toEqual([manifest.kind, true]);
      if (schema !== undefined)
        expect([manifest.metadata.name, errorsOf(schema, manifest)]).toEqual([manifest.metadata.name, []]);
    }
    const kinds = new Set(manifests.map(({ kind }) => kind));
    const asked = ["Deployment", "HorizontalPodAutoscaler", "ScaledObject", "PodDisruptionBudget", "NetworkPolicy"];
    expect(asked.filter((kind) => !kinds.has(kind))).toEqual([]);
  });

  it("chooses pods that there are, and ports that they have", () => {
    for (const pod of pods) expect(chosen(pod.spec.selector?.matchLabels ?? {})).toContain(pod);
    for (const { metadata, spec } of ofKind("Service", "PodDisruptionBudget", "NetworkPolicy")) {
      const found = chosen(spec.podSelector?.matchLabels ?? spec.selector?.matchLabels ?? spec.selector ?? {});
      expect([metadata.name, found.length > 0]).toEqual([metadata.name, true]);
      const names = found.flatMap((pod) => pod.spec.template?.spec.containers ?? []).flatMap(({ ports = [] }) => ports);
      for (const { targetPort } of spec.ports ?? []) {
        expect(names.map(({ name }) => name)).toContain(targetPort);
      }
    }
    for (const { spec } of ofKind("HorizontalPodAutoscaler", "ScaledObject")) {
      expect(ofKind("Deployment").map(({ metadata }) => metadata.name)).toContain(spec.scaleTargetRef?.name);
    }
  });

  it("lets containers write nothing but their volumes, and gives settings that there are", () => {
    const config = ofKind("ConfigMap")[0]?.data ?? {};
    expectSettings(config);
    for (const pod of pods) {
      const { containers, volumes = [], terminationGracePeriodSeconds } = pod.spec.template?.spec ?? { containers: [] };
      const names = [...volumes, ...(pod.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata)];
      for (const { securityContext, volumeMounts, envFrom, env = [] } of containers) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect(volumeMounts.map(({ name }) => name)).toEqual(names.map(({ name }) => name));
        if (envFrom === undefined) continue;
        expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(["/var/cache/kiln"]);
        expectSettings(Object.fromEntries(env.map(({ name, value = "given" }) => [name, value])));
        // The pause before the stop, the drain, and some time to close.
        expect(terminationGracePeriodSeconds).toBeGreaterThan(5 + Number(config.KILN_DRAIN_MS) / 1000 + 5);
      }
    }
    const hosts = [config.KILN_REDIS, config.KILN_SHARED_CACHE].map((url) => new URL(url ?? "").hostname);
    const services = ofKind("Service").map(({ metadata }) => metadata.name);
    expect(hosts.filter((host) => !services.includes(host))).toEqual([]);
  });

  it("scales workers by a metric that servers give", () => {
    const [scaled] = ofKind("ScaledObject");
    const trigger = scaled?.spec.triggers?.[0];
    expect(readFileSync("src/http/metrics.ts", "utf8")).toContain(`"${trigger?.metadata.valueLocation}"`);
    expect(ofKind("TriggerAuthentication").map(({ metadata }) => metadata.name)).toEqual([
      trigger?.authenticationRef.name,
    ]);
  });
});
