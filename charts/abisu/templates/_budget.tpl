{{/*
The connection budget: what the database may be asked for at the worst moment. Each service counts its most pods, those
of a roll-out included, times its pool, and one more connection where it listens for work. One connection each for the
Jobs that may run at the same time, and two for each trigger of KEDA.
Takes the root; gives JSON: sum, terms (as text), max, reserved.
*/}}
{{- define "abisu.budget" -}}
{{- $sum := 0 -}}
{{- $terms := list -}}
{{- range $key, $component := include "abisu.services" . | fromJson -}}
{{- $values := include "abisu.service" (list $ $key) | fromYaml -}}
{{- $pods := include "abisu.mostPods" (dict "root" $ "key" $key "values" $values) | int -}}
{{- $surge := include "abisu.share" (list $values.rollingUpdate.maxSurge $pods) | int -}}
{{- /* ingest only tells, it does not listen; partner-push listens for each of its channels. */ -}}
{{- $listens := 1 -}}
{{- if eq $key "ingest" -}}
{{- $listens = 0 -}}
{{- else if eq $key "partnerPush" -}}
{{- $listens = len (splitList "," $.Values.partner.channel) -}}
{{- end -}}
{{- $each := add (int $values.databasePool) (int $listens) -}}
{{- $all := mul (add $pods $surge) $each -}}
{{- $sum = add $sum $all -}}
{{- $terms = append $terms (printf "%s (%d+%d)×%d = %d" $component $pods $surge $each $all) -}}
{{- end -}}
{{- $jobs := len .Values.city.serviceArea.keys -}}
{{- if not .Values.city.serviceArea.existingConfigMap -}}{{- $jobs = len .Values.city.serviceArea.files -}}{{- end -}}
{{- range list (ne .Values.migrations.mode "external") (ne (include "abisu.flows.on" .) "") .Values.purge.enabled .Values.tests.enabled -}}
{{- if . -}}{{- $jobs = add $jobs 1 -}}{{- end -}}
{{- end -}}
{{- $sum = add $sum $jobs -}}
{{- $terms = append $terms (printf "jobs %d" $jobs) -}}
{{- with (include "abisu.kedaKeys" . | fromJson).keys -}}
{{- $keda := mul 2 (len .) -}}
{{- $sum = add $sum $keda -}}
{{- $terms = append $terms (printf "KEDA %d" $keda) -}}
{{- end -}}
{{- $reserved := int .Values.database.connections.reserved -}}
{{- $text := printf "%s, reserved %d: %d" (join " + " $terms) $reserved (add $sum $reserved) -}}
{{- toJson (dict "sum" (add $sum $reserved) "text" $text "max" (int .Values.database.connections.max)) -}}
{{- end -}}
