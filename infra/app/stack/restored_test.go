package stack_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// One deployment moves the stacks to restored tables. The stack of the data is deployed first, while the others still
// import the tables that it made.
func TestOneSettingMovesTheStacksToRestoredTables(t *testing.T) {
	const (
		stream = "arn:aws:dynamodb:eu-central-1:111122223333:table/acme-state-2/stream/2026-11-26T00:00:00.000"
		audit  = "arn:aws:dynamodb:eu-central-1:111122223333:table/acme-audit-2/stream/2026-11-26T00:00:00.000"
	)
	entry := maps.Clone(cdkContext()["customers"].(map[string]any)["acme"].(map[string]any))
	entry["restoredTables"] = map[string]any{"acme-prod-eu-central-1": map[string]any{"state": "acme-state-2",
		"audit": "acme-audit-2"}}
	values := map[string]any{"customer": "acme", "customers": map[string]any{"acme": entry}}
	if _, err := assemble(t.TempDir(), values, nil); err == nil || !strings.Contains(err.Error(), "deploy with `make deploy`") {
		t.Errorf("without their streams: %v", err)
	}
	values["found"] = `{"stateStream": "` + stream + `", "auditStream": "` + audit + `"}`
	restored := brief(t.TempDir(), values)
	const data = "acme-prod-eu-central-1-data"
	for name, output := range acme[data].Outputs {
		if got := fmt.Sprint(restored[data].Outputs[name]); strings.HasPrefix(name, "Exports") && got != fmt.Sprint(output) {
			t.Errorf("the export %s of the data becomes %s: CloudFormation refuses that while others import it", name, got)
		}
	}
	for id, r := range acme.of("AWS::DynamoDB::Table") {
		if got := fmt.Sprint(restored.of("AWS::DynamoDB::Table")[id]); got != fmt.Sprint(r) {
			t.Errorf("the table %s becomes %s", id, got)
		}
	}
	if name := restored[data].Outputs["TableName"]; fmt.Sprint(name) != "map[Value:acme-state-2]" {
		t.Errorf("operators use the table %v", name)
	}
	for name, s := range restored {
		if name != data && (strings.Contains(s.text, "State1C20CC9A") || strings.Contains(s.text, "Audit3D8ADE0A")) {
			t.Errorf("%s still uses a table of the data", name)
		}
	}
	uses, streams := 0, map[string]bool{}
	for id, r := range restored.of("AWS::Lambda::Function") {
		was, _ := acme.of("AWS::Lambda::Function")[id].Properties.at("Environment", "Variables").(map[string]any)
		for variable, table := range map[string]string{"TABLE_NAME": "acme-state-2", "AUDIT_TABLE_NAME": "acme-audit-2"} {
			if was[variable] == nil {
				continue
			}
			uses++
			if got := r.Properties.at("Environment", "Variables", variable); got != table {
				t.Errorf("%s has %s: %v", id, variable, got)
			}
		}
	}
	for _, r := range restored.of("AWS::Lambda::EventSourceMapping") {
		streams[fmt.Sprint(r.Properties["EventSourceArn"])] = true
	}
	if uses == 0 || !streams[stream] || !streams[audit] {
		t.Errorf("%d functions use the tables, and these are read: %v", uses, streams)
	}
}
