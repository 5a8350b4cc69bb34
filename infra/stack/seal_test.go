package stack_test

import (
	"encoding/json"
	"maps"
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
			if want := map[bool]string{true: "Delete", false: "Retain"}[name == "local"]; r.DeletionPolicy != want {
				t.Errorf("%s: %s when its stack goes, want %s", id, r.DeletionPolicy, want)
			}
		}
		sealing := 0
		for id, r := range s.of("AWS::Lambda::Function") {
			value := r.Properties.at("Environment", "Variables", "SEAL_SECRET")
			if value == nil {
				continue
			}
			sealing++
			if text, err := json.Marshal(value); err != nil || !strings.Contains(string(text), "{{resolve:secretsmanager:") {
				t.Errorf("%s is given %s, %v", id, text, err)
			}
		}
		if sealing == 0 {
			t.Errorf("no function of %s seals", name)
		}
	}
}

// secretsOf returns the secrets whose ids begin so.
func secretsOf(s stacks, id string) map[string]resource {
	secrets := s.of("AWS::SecretsManager::Secret")
	maps.DeleteFunc(secrets, func(full string, _ resource) bool {
		_, logical, _ := strings.Cut(full, "/")
		return !strings.HasPrefix(logical, id)
	})
	return secrets
}
