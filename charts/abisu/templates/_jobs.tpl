{{/* Pods of the operator's command line. */}}

{{/*
The pod of a Job. Takes a dict: root, job (its name), args, and where needed: env, volumes, mounts, annotations,
afterMigration (whether the schema is brought up to date first, which is safe as often as it is done), and for a hook
serviceAccountName and ownerSecret, which are there before the release is.
*/}}
{{- define "abisu.jobPod" -}}
{{- $root := .root -}}
{{- $jobs := $root.Values.jobs -}}
{{- $image := include "abisu.image" (dict "root" $root "component" "abisu" "image" $jobs.image) -}}
metadata:
  labels:
    {{- include "abisu.labels" (list $root "jobs") | nindent 4 }}
    abisu/job: {{ .job }}
    {{- with $jobs.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $jobs.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  restartPolicy: {{ default "OnFailure" .restartPolicy }}
  serviceAccountName: {{ default (include "abisu.serviceAccount" (dict "root" $root "component" "jobs" "serviceAccount" $jobs.serviceAccount)) .serviceAccountName }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- include "abisu.pullSecrets" $root | nindent 2 }}
  securityContext:
    {{- toYaml $root.Values.defaults.podSecurityContext | nindent 4 }}
  {{- with include "abisu.scheduling" (merge (dict "dnsConfig" $root.Values.defaults.dnsConfig) $jobs) }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- if and .afterMigration (eq $root.Values.migrations.mode "job") }}
  initContainers:
    - name: migrate
      {{- include "abisu.jobContainer" (dict "root" $root "image" $image "args" (list "migrate")) | nindent 6 }}
  {{- end }}
  containers:
    - name: {{ .job }}
      {{- include "abisu.jobContainer" (dict "root" $root "image" $image "args" .args "env" .env "mounts" .mounts) | nindent 6 }}
  volumes:
    {{- $database := include "abisu.database.volumes" (list $root "owner") | fromYamlArray }}
    {{- with .ownerSecret }}
    {{- $_ := set (first $database).secret "secretName" . }}
    {{- end }}
    {{- toYaml $database | nindent 4 }}
    {{- with .volumes }}
    {{- . | trim | nindent 4 }}
    {{- end }}
{{- end -}}

{{- define "abisu.jobContainer" -}}
image: {{ .image }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: {{ toJson .args }}
terminationMessagePolicy: FallbackToLogsOnError
env:
  {{- include "abisu.database.env" .root | nindent 2 }}
  {{- with .env }}
  {{- . | trim | nindent 2 }}
  {{- end }}
  {{- with .root.Values.jobs.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.jobs.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .root.Values.defaults.containerSecurityContext | nindent 2 }}
volumeMounts:
  {{- include "abisu.database.mounts" .root | nindent 2 }}
  {{- with .mounts }}
  {{- . | trim | nindent 2 }}
  {{- end }}
{{- end -}}

{{/*
A Job that runs again when anything of it changes. A Job cannot be changed, so the name says what is in it: the same
content, also under another revision, is the same Job. Takes the dict of `abisu.jobPod`, and `content`, what else counts.
*/}}
{{- define "abisu.job" -}}
{{- $pod := include "abisu.jobPod" . -}}
{{- $hash := printf "%s%s" $pod (default "" .content) | sha256sum | trunc 10 -}}
apiVersion: batch/v1
kind: Job
metadata:
  {{- include "abisu.metadata" (dict "root" .root "component" "jobs" "name" (printf "%s-%s-%s" (include "abisu.fullname" .root) .job $hash)) | nindent 2 }}
spec:
  backoffLimit: {{ .root.Values.migrations.backoffLimit }}
  template:
    {{- $pod | nindent 4 }}
{{- end -}}
