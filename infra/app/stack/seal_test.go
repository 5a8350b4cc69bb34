package stack_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestAnswersAreSealedWithASecretThatNoTemplateHolds(t *testing.T) {
	for name, s := range map[string]stacks{"acme": acme, "globex": globex, "local": local} {
		secrets := secretsOf(s, "SealSecret")
		if len(secrets) != 1 {
			t.Fatalf("%s has %d secrets to seal with", name, len(secrets))
		}
		for id, r := range secrets {
			length, _ := r.Properties.at("GenerateSecretString", "PasswordLength").(float64)
			if r.Properties["SecretString"] != nil || length < 43 || !holdsKey(r.Properties["KmsKeyId"]) {
				t.Errorf("%s is %v", id, r.Properties)
			}
			if want := map[bool]string{true: "Delete",
				false: "RetainExceptOnCreate"}[name == "local"]; r.DeletionPolicy != want {
				t.Errorf("%s: %s when its stack goes, want %s", id, r.DeletionPolicy, want)
			}
		}
		sealing := 0
		for id, r := range s.of("AWS::Lambda::Function") {
			if r.Properties.at("Environment", "Variables", "SEAL_SECRET_ARN") != nil {
				sealing++
			}
			// Whoever may list functions can read their environments.
			if text, err := json.Marshal(r.Properties["Environment"]); err != nil ||
				strings.Contains(string(text), "{{resolve:") {
				t.Errorf("%s is given %s, %v", id, text, err)
			}
		}
		if sealing == 0 {
			t.Errorf("no function of %s seals", name)
		}
	}
}

// secretsOf returns the secrets whose ids begin with id.
func secretsOf(s stacks, id string) map[string]resource {
	secrets := s.of("AWS::SecretsManager::Secret")
	maps.DeleteFunc(secrets, func(full string, _ resource) bool {
		_, logical, _ := strings.Cut(full, "/")
		return !strings.HasPrefix(logical, id)
	})
	return secrets
}

func TestTheSealingSecretIsRotated(t *testing.T) {
	for name, s := range map[string]stacks{"acme": acme, "globex": globex} {
		schedules := s.of("AWS::SecretsManager::RotationSchedule")
		if len(schedules) != 1 {
			t.Fatalf("%s has %d rotations", name, len(schedules))
		}
		for id, r := range schedules {
			text, err := json.Marshal(r.Properties)
			if err != nil || !strings.Contains(string(text), "SealSecret") ||
				!strings.Contains(string(text), "RotateSealFunction") {
				t.Errorf("%s is %s, %v", id, text, err)
			}
			if r.Properties.at("RotationRules", "ScheduleExpression") != "rate(30 days)" ||
				r.Properties["RotateImmediatelyOnUpdate"] != false {
				t.Errorf("%s rotates by %s", id, text)
			}
		}
		called := 0
		for id, r := range s.of("AWS::Lambda::Permission") {
			if r.Properties["Principal"] != "secretsmanager.amazonaws.com" {
				continue
			}
			called++
			if r.Properties["SourceAccount"] == nil {
				t.Errorf("%s lets other accounts call the function", id)
			}
		}
		if called != 1 {
			t.Errorf("%s lets Secrets Manager call %d functions", name, called)
		}
	}
	for name, permissions := range permissionsOf(acme) {
		for _, p := range permissions {
			if strings.Contains(p.resources, "SealSecret") &&
				slices.Contains(p.actions, "secretsmanager:PutSecretValue") != (name == "rotate-seal") {
				t.Errorf("%s may %v", name, p.actions)
			}
		}
	}
}
