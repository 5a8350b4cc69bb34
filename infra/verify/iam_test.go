// Package verify_test has the tests of the packages below that name none of their internals.
package verify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/judge/iam"
)

// with returns a template whose role reads secrets and has another action.
func with(action string) []byte {
	return []byte(strings.ReplaceAll(`{"Resources": {
		"Role": {"Properties": {"Policies": [{"PolicyDocument": {"Statement": [
			{"Effect": "Allow", "Action": "ACTION", "Resource": "*"},
			{"Effect": "Allow", "Action": ["secretsmanager:GetSecretValue"], "Resource": "*"}]}}]}},
		"Firewall": {"Properties": {"Rules": [{"Action": {"Block": {}}}]}}}}`, "ACTION", action))
}

func TestActionsAreComparedWithIAM(t *testing.T) {
	got, err := iam.Actions(with("sesv2:GetEmailIdentity"))
	if err != nil || !slices.Equal(got, []string{"secretsmanager:GetSecretValue", "sesv2:GetEmailIdentity"}) {
		t.Errorf("%v, %v", got, err)
	}
	levels := iam.Levels()
	if err := iam.Check(with("sesv2:GetEmailIdentity"), levels); err == nil || !strings.Contains(err.Error(), "sesv2:") ||
		strings.Contains(err.Error(), "secretsmanager:") {
		t.Errorf("an action that does not exist: %v", err)
	}
	if err := iam.Check(with("ses:GetEmailIdentity"), levels); err != nil {
		t.Error(err)
	}
	if err := iam.Check([]byte(`{"Resources": {}}`), levels); err == nil {
		t.Error("a template without a policy passes")
	}
	for action, level := range levels {
		if level == "" || !strings.Contains(action, ":") {
			t.Errorf("the table has %q with the level %q", action, level)
		}
	}
}

func TestSecretsNeedTheirKey(t *testing.T) {
	if iam.Secrets(with("kms:DescribeKey")) == nil {
		t.Error("a role reads secrets without their key")
	}
	if err := iam.Secrets(with("kms:Decrypt")); err != nil {
		t.Error(err)
	}
}
