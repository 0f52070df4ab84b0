import { type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";

/**
 * What the Compose specification and the Kubernetes API (apps/v1, autoscaling/v2, policy/v1, networking.k8s.io/v1, v1)
 * say of the fields that the files of `deploy` use. Closed: a misspelt or unknown field is an error, as it is to
 * `kubectl apply --validate=strict` and `docker compose config`.
 */
const o = <P extends TProperties>(properties: P): TObject<P> =>
  Type.Object(properties, { additionalProperties: false });
const maybe = <T extends TSchema>(schema: T) => Type.Optional(schema);
const text = Type.String({ minLength: 1 });
const word = Type.String({ pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", maxLength: 63 });
const count = Type.Integer({ minimum: 0 });
const texts = Type.Array(Type.String());
const map = Type.Record(Type.String(), Type.String());
const one = (...values: readonly string[]) => Type.Union(values.map((value) => Type.Literal(value)));

// Compose

const duration = Type.String({ pattern: "^([0-9]+(h|m|s|ms|us))+$" });
const composeHealth = o({
  test: maybe(texts),
  interval: maybe(duration),
  timeout: maybe(duration),
  retries: maybe(count),
  start_period: maybe(duration),
  disable: maybe(Type.Boolean()),
});
const dependsOn = Type.Union([
  texts,
  Type.Record(word, o({ condition: one("service_started", "service_healthy", "service_completed_successfully") })),
]);
const composeService = o({
  image: maybe(text),
  build: maybe(o({ context: text, args: maybe(map) })),
  command: maybe(texts),
  restart: maybe(one("no", "always", "on-failure", "unless-stopped")),
  read_only: maybe(Type.Boolean()),
  cap_drop: maybe(texts),
  security_opt: maybe(texts),
  stop_grace_period: maybe(duration),
  depends_on: maybe(dependsOn),
  environment: maybe(map),
  volumes: maybe(texts),
  deploy: maybe(o({ replicas: maybe(count) })),
  expose: maybe(texts),
  ports: maybe(texts),
  healthcheck: maybe(composeHealth),
  user: maybe(text),
});
export const composeFile = o({
  name: maybe(word),
  services: Type.Record(word, composeService),
  volumes: maybe(Type.Record(word, o({}))),
});

// Kubernetes

const meta = o({ name: word, labels: maybe(map) });
const selector = o({ matchLabels: map });
const port = Type.Union([Type.Integer({ minimum: 1, maximum: 65535 }), word]);
const quantity = Type.String({ pattern: "^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$" });
const action = {
  httpGet: maybe(o({ path: Type.String({ pattern: "^/" }), port })),
  exec: maybe(o({ command: texts })),
};
const probe = o({
  ...action,
  periodSeconds: maybe(count),
  timeoutSeconds: maybe(count),
  failureThreshold: maybe(count),
});
const keyRef = o({ name: word, key: text });
const container = o({
  name: word,
  image: text,
  command: maybe(texts),
  env: maybe(
    Type.Array(
      o({
        name: text,
        value: maybe(Type.String()),
        valueFrom: maybe(o({ secretKeyRef: maybe(keyRef), configMapKeyRef: maybe(keyRef) })),
      }),
    ),
  ),
  envFrom: maybe(Type.Array(o({ configMapRef: o({ name: word }) }))),
  ports: maybe(Type.Array(o({ name: maybe(word), containerPort: Type.Integer({ minimum: 1, maximum: 65535 }) }))),
  startupProbe: maybe(probe),
  livenessProbe: maybe(probe),
  readinessProbe: maybe(probe),
  lifecycle: maybe(o({ preStop: maybe(o(action)) })),
  resources: o({ requests: Type.Record(Type.String(), quantity), limits: Type.Record(Type.String(), quantity) }),
  securityContext: o({
    allowPrivilegeEscalation: Type.Boolean(),
    readOnlyRootFilesystem: Type.Boolean(),
    capabilities: o({ drop: texts }),
  }),
  volumeMounts: maybe(Type.Array(o({ name: word, mountPath: text, readOnly: maybe(Type.Boolean()) }))),
});
const podSpec = o({
  automountServiceAccountToken: Type.Boolean(),
  terminationGracePeriodSeconds: maybe(count),
  securityContext: o({
    runAsNonRoot: Type.Boolean(),
    runAsUser: count,
    fsGroup: count,
    seccompProfile: o({ type: one("RuntimeDefault", "Localhost", "Unconfined") }),
  }),
  topologySpreadConstraints: maybe(
    Type.Array(
      o({
        maxSkew: count,
        topologyKey: text,
        whenUnsatisfiable: one("DoNotSchedule", "ScheduleAnyway"),
        labelSelector: selector,
      }),
    ),
  ),
  containers: Type.Array(container, { minItems: 1 }),
  volumes: maybe(Type.Array(o({ name: word, emptyDir: o({ sizeLimit: maybe(quantity) }) }))),
});
const template = o({ metadata: o({ labels: map }), spec: podSpec });
const replicas = maybe(count);
const amount = Type.Union([count, Type.String({ pattern: "^[0-9]+%$" })]);
const peers = Type.Array(o({ podSelector: selector }));
const policyPorts = maybe(Type.Array(o({ protocol: one("TCP", "UDP", "SCTP"), port })));

const object = <P extends TProperties>(apiVersion: string, rest: P) =>
  o({ apiVersion: Type.Literal(apiVersion), kind: text, metadata: meta, ...rest });

/** By kind. */
export const kubernetes: Readonly<Record<string, TSchema>> = {
  ConfigMap: object("v1", { data: map }),
  Service: object("v1", {
    spec: o({ selector: map, ports: Type.Array(o({ name: maybe(word), port, targetPort: maybe(port) })) }),
  }),
  Deployment: object("apps/v1", {
    spec: o({
      replicas,
      selector,
      strategy: maybe(o({ rollingUpdate: o({ maxUnavailable: amount, maxSurge: amount }) })),
      template,
    }),
  }),
  StatefulSet: object("apps/v1", {
    spec: o({
      serviceName: word,
      replicas,
      selector,
      template,
      volumeClaimTemplates: maybe(
        Type.Array(
          o({
            metadata: meta,
            spec: o({
              accessModes: Type.Array(one("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")),
              resources: o({ requests: o({ storage: quantity }) }),
            }),
          }),
        ),
      ),
    }),
  }),
  HorizontalPodAutoscaler: object("autoscaling/v2", {
    spec: o({
      scaleTargetRef: o({ apiVersion: text, kind: text, name: word }),
      minReplicas: count,
      maxReplicas: count,
      metrics: Type.Array(
        o({
          type: Type.Literal("Resource"),
          resource: o({
            name: one("cpu", "memory"),
            target: o({ type: one("Utilization", "Value", "AverageValue"), averageUtilization: maybe(count) }),
          }),
        }),
      ),
    }),
  }),
  PodDisruptionBudget: object("policy/v1", {
    spec: o({ minAvailable: maybe(amount), maxUnavailable: maybe(amount), selector }),
  }),
  NetworkPolicy: object("networking.k8s.io/v1", {
    spec: o({
      podSelector: selector,
      policyTypes: Type.Array(one("Ingress", "Egress")),
      ingress: maybe(Type.Array(o({ from: maybe(peers), ports: policyPorts }))),
      egress: maybe(Type.Array(o({ to: maybe(peers), ports: policyPorts }))),
    }),
  }),
  ScaledObject: object("keda.sh/v1alpha1", {
    spec: o({
      scaleTargetRef: o({ name: word }),
      minReplicaCount: count,
      maxReplicaCount: count,
      pollingInterval: count,
      cooldownPeriod: count,
      // What a trigger's metadata holds is its scaler's; all values are text.
      triggers: Type.Array(o({ type: text, metadata: map, authenticationRef: maybe(o({ name: word })) })),
    }),
  }),
  TriggerAuthentication: object("keda.sh/v1alpha1", {
    spec: o({ secretTargetRef: Type.Array(o({ parameter: text, name: word, key: text })) }),
  }),
};
