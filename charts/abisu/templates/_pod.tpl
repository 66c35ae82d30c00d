{{/* The pod of a service, and the numbers that are made from its values. */}}

{{/*
Seconds that Kubernetes waits before it kills: drain, work in flight, 3 s for the last spans, 5 s to spare.
Takes the service's values.
*/}}
{{- define "abisu.gracePeriod" -}}
{{- add (div (add (int .drainDelayMs) (int .graceMs) 999) 1000) 8 -}}
{{- end -}}

{{/* Variables that every container has. Takes the root. */}}
{{- define "abisu.env.common" -}}
- name: ABISU_LOG
  value: {{ .Values.telemetry.logLevel | quote }}
- name: ABISU_LOG_FORMAT
  value: {{ .Values.telemetry.logFormat }}
{{- with .Values.telemetry.otlpEndpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- end -}}

{{/* Variables of a service that its values are made into. Takes a dict: root, key, values. */}}
{{- define "abisu.env.service" -}}
{{- include "abisu.env.common" .root }}
{{ include "abisu.database.env" .root }}
- name: ABISU_DATABASE_POOL
  value: {{ .values.databasePool | quote }}
- name: ABISU_DRAIN_DELAY_MS
  value: {{ .values.drainDelayMs | quote }}
- name: ABISU_GRACE_MS
  value: {{ .values.graceMs | quote }}
{{ include (printf "abisu.env.%s" .key) . }}
{{- end -}}

{{/* Where pods spread. Takes a dict: root, component, values. */}}
{{- define "abisu.topologySpread" -}}
{{- $spread := .values.topologySpread -}}
{{- $selector := include "abisu.selector" (list .root .component) -}}
{{- if $spread.constraints }}
topologySpreadConstraints:
  {{- toYaml $spread.constraints | nindent 2 }}
{{- else if or $spread.zone $spread.hostname }}
topologySpreadConstraints:
  {{- range $on, $key := dict "zone" "topology.kubernetes.io/zone" "hostname" "kubernetes.io/hostname" }}
  {{- if index $spread $on }}
  - topologyKey: {{ $key }}
    maxSkew: 1
    whenUnsatisfiable: {{ $spread.whenUnsatisfiable }}
    labelSelector:
      matchLabels:
        {{- $selector | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Where a pod may run, and how. Takes its values. */}}
{{- define "abisu.scheduling" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .schedulerName }}
schedulerName: {{ . }}
{{- end }}
{{- with .runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with .dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The pod template of a service. Takes a dict: root, key, component, values. */}}
{{- define "abisu.podTemplate" -}}
{{- $root := .root -}}
{{- $values := .values -}}
{{- $config := include (printf "abisu.config.%s" .key) . -}}
metadata:
  labels:
    {{- include "abisu.podLabels" (list $root .component) | nindent 4 }}
    {{- with $values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    kubectl.kubernetes.io/default-container: {{ .component }}
    {{- with $config }}
    checksum/config: {{ sha256sum . }}
    {{- end }}
    {{- with $values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "abisu.serviceAccount" (dict "root" $root "component" .component "serviceAccount" $values.serviceAccount) }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- include "abisu.pullSecrets" $root | nindent 2 }}
  terminationGracePeriodSeconds: {{ include "abisu.gracePeriod" $values }}
  {{- with $values.podSecurityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with include "abisu.topologySpread" . }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with include "abisu.scheduling" $values }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with $values.extraInitContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "abisu.image" (dict "root" $root "component" .component "image" $values.image) }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      # What a service says when it refuses to start is one line; this way `kubectl describe pod` has it.
      terminationMessagePolicy: FallbackToLogsOnError
      ports:
        {{- if eq .key "ingest" }}
        - name: http
          containerPort: 8080
        {{- else if eq .key "geocode" }}
        - name: grpc
          containerPort: 50051
        {{- end }}
        - name: admin
          containerPort: 9090
      env:
        {{- include "abisu.env.service" . | trim | nindent 8 }}
        {{- with $values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- $city := has .key (list "conversation" "geocode") }}
      {{- if or $city $values.extraEnvFrom }}
      envFrom:
        {{- if $city }}
        - configMapRef:
            name: {{ default (include "abisu.name" (list $root "city")) $root.Values.city.existingConfigMap }}
        {{- end }}
        {{- with $values.extraEnvFrom }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
      livenessProbe:
        httpGet:
          path: /livez
          port: admin
        {{- toYaml $values.livenessProbe | nindent 8 }}
      readinessProbe:
        httpGet:
          path: /readyz
          port: admin
        {{- toYaml $values.readinessProbe | nindent 8 }}
      {{- with $values.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.containerSecurityContext }}
      securityContext:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        {{- include "abisu.database.mounts" $root | nindent 8 }}
        {{- include (printf "abisu.mounts.%s" .key) . | trim | nindent 8 }}
        {{- with $values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    {{- with $values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
    {{- include "abisu.database.volumes" (list $root .key) | nindent 4 }}
    {{- include (printf "abisu.volumes.%s" .key) . | trim | nindent 4 }}
    {{- with $values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
