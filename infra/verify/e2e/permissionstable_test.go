//go:build deployed

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// row is a statement in infra/app/stack/testdata/permissions.md.
type row struct {
	effect          string
	actions         []string
	on, condition   string
	needed, reasons []string
}

// String returns the row's cells.
func (r row) String() string {
	var outcome []string
	if len(r.needed) > 0 {
		verb := " is refused"
		if r.effect == "Deny" {
			verb = " is permitted"
		}
		outcome = append(outcome, short(r.needed)+verb)
	}
	outcome = append(outcome, r.reasons...)
	permits := short(r.actions)
	if r.effect == "Deny" {
		permits = "**not** " + permits
	}
	return strings.Join([]string{permits, r.on, r.condition, strings.Join(outcome, ". ")}, " | ")
}

// short renders actions, and names their service once.
func short(actions []string) string {
	var all []string
	for i, a := range actions {
		service, verb, _ := strings.Cut(a, ":")
		if i > 0 && strings.HasPrefix(actions[i-1], service+":") {
			a = verb
		}
		all = append(all, "`"+a+"`")
	}
	return strings.Join(all, ", ")
}

// table has the functions of each row.
type table map[string][]string

func (t table) add(function string, r row) { t[r.String()] = append(t[r.String()], function) }

// write writes the table into the document, and reports whether the document had another.
func (t table) write(name string) (stale bool, err error) {
	const begin, end = "<!-- begin -->\n", "<!-- end -->\n"
	document, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	before, rest, ok := strings.Cut(string(document), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return false, fmt.Errorf("%s has no table", name)
	}
	var text strings.Builder
	text.WriteString(before + begin + "| Functions | May | On | If | Without it |\n|---|---|---|---|---|\n")
	for _, cells := range sortedKeys(t) {
		functions := strings.Join(t[cells], ", ")
		if len(t[cells]) == len(topology.Functions) {
			functions = "all"
		}
		fmt.Fprintf(&text, "| %s | %s |\n", functions, cells)
	}
	text.WriteString(end + after)
	if text.String() == string(document) {
		return false, nil
	}
	return true, os.WriteFile(name, []byte(text.String()), 0o644)
}

// kinds describes the resources of a statement, without the names of this deployment.
func kinds(s statement) string {
	account := "arn:aws:"
	var all []string
	for _, arn := range s.Resource {
		kind := ""
		switch {
		case arn == "*":
			kind = "everything"
		case strings.Contains(arn, ":log-group:"):
			kind = "its log"
		case strings.Contains(arn, running.Table+"/stream/"):
			kind = "stream of the state table"
		case strings.Contains(arn, running.AuditTable+"/stream/"):
			kind = "stream of the audit table"
		case strings.Contains(arn, running.Table+"/index/"):
			kind = "indexes of the state table"
		case strings.Contains(arn, running.AuditTable+"/index/"):
			kind = "indexes of the audit table"
		case strings.HasSuffix(arn, "/"+running.Table):
			kind = "state table"
		case strings.HasSuffix(arn, "/"+running.AuditTable):
			kind = "audit table"
		case strings.HasSuffix(arn, ":::"+running.MediaBucket):
			kind = "media bucket"
		case strings.Contains(arn, ":::"+running.MediaBucket+"/"):
			_, path, _ := strings.Cut(arn, running.MediaBucket)
			kind = "media bucket, `" + path + "`"
		case strings.HasPrefix(arn, account+"sqs:"):
			kind = queueOf(arn)
		case strings.HasPrefix(arn, account+"events:"):
			kind = "event bus"
		case arn == running.ProviderSecret:
			kind = "secret of the providers"
		case arn == running.PlatformSecret:
			kind = "secret of the platforms"
		case arn == running.Outputs["SealSecretArn"]:
			kind = "sealing secret"
		case arn == running.Outputs["CanarySecretArn"]:
			kind = "secret of the canary"
		case strings.HasPrefix(arn, account+"kms:"):
			kind = "customer's key"
			if strings.Contains(s.id(), "kms:EncryptionContext") {
				kind = "key of signing keys"
				if strings.Contains(s.id(), seal.ForTokens) {
					kind = "key of social tokens"
				}
			}
		case strings.Contains(arn, "async-invoke/"):
			kind = "invocations of the account"
		case strings.Contains(arn, ":model-customization-job/"), strings.Contains(arn, ":custom-model"):
			kind = "jobs, models and deployments of trainings"
		case strings.Contains(arn, "-TrainingRole"):
			kind = "role of trainings"
		case strings.HasPrefix(arn, account+"bedrock:"):
			kind = "models of the catalog"
		default:
			kind = "`" + arn + "`"
		}
		if !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// queueOf returns the queue's name in an ARN.
func queueOf(arn string) string {
	name := arn[strings.LastIndex(arn, ":")+1:]
	for queue, address := range running.QueueURLs {
		if strings.HasSuffix(address, "/"+name) {
			return "queue " + string(queue)
		}
	}
	return "its dead-letter queue"
}

// conditionOf describes the condition of a statement.
func conditionOf(s statement) string {
	var all []string
	for _, operator := range sortedKeys(s.Condition) {
		for _, key := range sortedKeys(s.Condition[operator]) {
			var values []string
			for _, v := range s.Condition[operator][key] {
				if key == "aws:ResourceAccount" {
					v = "its own account"
				}
				values = append(values, strings.ReplaceAll(v, "."+running.Region+".amazonaws.com", ""))
			}
			all = append(all, fmt.Sprintf("`%s` %s: %s", key, operator, strings.Join(values, ", ")))
		}
	}
	return strings.Join(all, "; ")
}
