{{/* Who owns the number of pods, and how many there may be. All take a dict: root, key, values. */}}

{{/* Whether an autoscaler does. KEDA has nothing to scale partner-push by while nothing is handed over. */}}
{{- define "abisu.autoscaled" -}}
{{- $scaling := .values.autoscaling -}}
{{- if and $scaling.enabled (or (eq $scaling.type "hpa") (ne .key "partnerPush") .root.Values.partner.enabled) }}true{{ end -}}
{{- end -}}

{{/* Fewest pods that are there on a quiet day. */}}
{{- define "abisu.leastPods" -}}
{{- ternary (max 1 (int .values.autoscaling.minReplicas)) (int .values.replicas) (ne (include "abisu.autoscaled" .) "") -}}
{{- end -}}

{{/* Most pods, without those of a roll-out. */}}
{{- define "abisu.mostPods" -}}
{{- ternary (int .values.autoscaling.maxReplicas) (int .values.replicas) (ne (include "abisu.autoscaled" .) "") -}}
{{- end -}}

{{/* A number, or a share of a number, rounded up. Takes a list: number or share, number. */}}
{{- define "abisu.share" -}}
{{- $given := toString (first .) -}}
{{- if hasSuffix "%" $given -}}
{{- div (add (mul (trimSuffix "%" $given | int) (int (last .))) 99) 100 -}}
{{- else -}}
{{- int $given -}}
{{- end -}}
{{- end -}}

{{/* Services that are scaled by KEDA, by key. Takes the root. */}}
{{- define "abisu.kedaKeys" -}}
{{- $keys := list -}}
{{- range $key, $component := include "abisu.services" . | fromJson -}}
{{- $values := include "abisu.service" (list $ $key) | fromYaml -}}
{{- if and (eq $values.autoscaling.type "keda") (include "abisu.autoscaled" (dict "root" $ "key" $key "values" $values)) -}}
{{- $keys = append $keys $key -}}
{{- end -}}
{{- end -}}
{{- toJson (dict "keys" $keys) -}}
{{- end -}}

{{- define "abisu.scalingBehavior" -}}
{{- if .values.autoscaling.behavior -}}
{{- toYaml .values.autoscaling.behavior -}}
{{- else -}}
scaleDown:
  stabilizationWindowSeconds: 300
  policies:
    - type: Pods
      value: 1
      periodSeconds: 60
{{- end -}}
{{- end -}}

{{/* What waits and could be worked by one more pod; see the views of the schema `metrics`. Never NULL. */}}
{{- define "abisu.query.conversation" -}}
select coalesce(sum(ready), 0)::float8 from metrics.ready_chat
{{- end -}}

{{- define "abisu.query.partnerPush" -}}
select coalesce(sum(due), 0)::float8 from metrics.due_push where channel = any (string_to_array('{{ .root.Values.partner.channel }}', ','))
{{- end -}}
