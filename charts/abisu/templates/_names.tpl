{{/* Names, labels, images. A name never grows beyond what Kubernetes takes, and two long ones stay different. */}}

{{/* The beginning of every name: at most 40 characters, so that what follows fits into 63. */}}
{{- define "abisu.fullname" -}}
{{- $chart := default .Chart.Name .Values.nameOverride -}}
{{- $name := .Values.fullnameOverride -}}
{{- if not $name -}}
{{- $name = ternary .Release.Name (printf "%s-%s" .Release.Name $chart) (contains $chart .Release.Name) -}}
{{- end -}}
{{- if gt (len $name) 40 -}}
{{- $name = printf "%s-%s" (trunc 31 $name | trimSuffix "-") (sha256sum $name | trunc 8) -}}
{{- end -}}
{{- $name | trimSuffix "-" -}}
{{- end -}}

{{/* The name of a component's objects. Takes a list: root, component. */}}
{{- define "abisu.name" -}}
{{- printf "%s-%s" (include "abisu.fullname" (first .)) (last .) -}}
{{- end -}}

{{/* Labels that select the pods of a component. Takes a list: root, component. */}}
{{- define "abisu.selector" -}}
{{- $root := first . -}}
app.kubernetes.io/name: {{ default $root.Chart.Name $root.Values.nameOverride }}
app.kubernetes.io/instance: {{ $root.Release.Name | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/component: {{ last . }}
{{- end -}}

{{/* Labels of an object. Takes a list: root, component. */}}
{{- define "abisu.labels" -}}
{{- $root := first . -}}
{{- include "abisu.selector" . }}
app.kubernetes.io/part-of: abisu
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/*
Labels of a pod: nothing that a new version of the chart alone would change, or every upgrade would be a roll-out.
Takes a list: root, component.
*/}}
{{- define "abisu.podLabels" -}}
{{- include "abisu.selector" . }}
app.kubernetes.io/part-of: abisu
{{- with (first .).Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* `metadata` of an object. Takes a dict: root, component, name (the component's by default), annotations. */}}
{{- define "abisu.metadata" -}}
name: {{ default (include "abisu.name" (list .root .component)) .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "abisu.labels" (list .root .component) | nindent 2 }}
{{- $annotations := merge (dict) (default (dict) .annotations) .root.Values.commonAnnotations }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The image of a component. Takes a dict: root, component, image. */}}
{{- define "abisu.image" -}}
{{- $common := .root.Values.image -}}
{{- $registry := default $common.registry .root.Values.global.imageRegistry -}}
{{- $repository := default (printf "%s/%s" $common.prefix .component | trimPrefix "/") .image.repository -}}
{{- $tag := default (default .root.Chart.AppVersion $common.tag) .image.tag -}}
{{- $place := ternary (printf "@%s" .image.digest) (printf ":%s" $tag) (ne .image.digest "") -}}
{{- with $registry }}{{ trimSuffix "/" . }}/{{ end }}{{ $repository }}{{ $place }}
{{- end -}}

{{/* `imagePullSecrets` of a pod. */}}
{{- define "abisu.pullSecrets" -}}
{{- with concat .Values.image.pullSecrets .Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The service account of a component. Takes a dict: root, component, serviceAccount. */}}
{{- define "abisu.serviceAccount" -}}
{{- if .serviceAccount.create -}}
{{- default (include "abisu.name" (list .root .component)) .serviceAccount.name -}}
{{- else -}}
{{- default "default" .serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The four services: component by the key of its values. */}}
{{- define "abisu.services" -}}
{"ingest": "ingest", "conversation": "conversation", "geocode": "geocode", "partnerPush": "partner-push"}
{{- end -}}

{{/*
What holds for a service: its own values over `defaults`, as YAML. Takes a list: root, key.
One field of a disruption budget takes the place of the other one's default.
*/}}
{{- define "abisu.service" -}}
{{- $root := first . -}}
{{- $own := index $root.Values (last .) -}}
{{- $all := mergeOverwrite (deepCopy $root.Values.defaults) (deepCopy $own) -}}
{{- $pdb := default (dict) $own.pdb -}}
{{- if and (hasKey $pdb "minAvailable") (not (hasKey $pdb "maxUnavailable")) -}}
{{- $_ := unset $all.pdb "maxUnavailable" -}}
{{- else if and (hasKey $pdb "maxUnavailable") (not (hasKey $pdb "minAvailable")) -}}
{{- $_ := unset $all.pdb "minAvailable" -}}
{{- end -}}
{{- toYaml $all -}}
{{- end -}}

{{/* Whether anything is made at all. */}}
{{- define "abisu.enabled" -}}
{{- if .Values.enabled }}true{{ end -}}
{{- end -}}
