//go:build deployed

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// TestRotationOfTheSealingSecret makes the four steps of a rotation like Secrets Manager, because
// the local one calls no function for it. A stored answer outlives the rotation.
func TestRotationOfTheSealingSecret(t *testing.T) {
	key := newCustomer(t).test.Secret
	body := object{"type": "brand", "name": "Acme", "settings": object{"brand_name": "Acme"}}
	make := func(name string) answer {
		return call(t, key, "POST", "/v1/factories", body, "Idempotency-Key", "rotation-"+name)
	}
	before := into[struct{ ID string }](make("before"), http.StatusCreated)

	client := secretsmanager.NewFromConfig(running.AWS())
	arn := running.Outputs["SealSecretArn"]
	old, err := client.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		t.Fatal(err)
	}
	const token = "00000000-0000-4000-8000-000000000001"
	for _, step := range []string{"createSecret", "setSecret", "testSecret", "finishSecret"} {
		var none any
		if err := running.Invoke(t.Context(), "rotate-seal",
			fmt.Sprintf(`{"Step":%q,"SecretId":%q,"ClientRequestToken":%q}`, step, arn, token), &none); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}
	now, err := client.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		t.Fatal(err)
	}
	if *now.VersionId != token || *now.SecretString == *old.SecretString {
		t.Errorf("the current version is %s", *now.VersionId)
	}
	again := make("before")
	if same := into[struct{ ID string }](again, http.StatusCreated); same.ID != before.ID ||
		again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the repeat made %s, not %s", same.ID, before.ID)
	}
	into[struct{ ID string }](make("after"), http.StatusCreated)
}
