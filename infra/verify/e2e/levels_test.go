package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/service/worker"
)

// TestServiceLevelsCountTheCallsOfAnAccount reads its own calls, and the canary's probe with
// its key.
func TestServiceLevelsCountTheCallsOfAnAccount(t *testing.T) {
	c := newCustomer(t)
	levels := func(key string) account.ServiceLevels {
		return into[account.ServiceLevels](call(t, key, "GET", "/v1/service-levels", nil), http.StatusOK)
	}
	for _, key := range []string{c.test.Secret, c.live.Secret} {
		for range 3 {
			call(t, key, "GET", "/v1/me", nil)
		}
		poll.Until(t, "the counts", func() bool {
			for _, o := range levels(key).Operations {
				if o.OperationID == "getMe" {
					return o.Calls == 3 && o.Failed == 0 && *o.Availability == 100 && o.LatencyP95 != nil
				}
			}
			return false
		})
	}
	before := levels(c.test.Secret).Probes
	client, arn := secretsmanager.NewFromConfig(running.AWS()), running.Outputs["CanarySecretArn"]
	set := func(ctx context.Context, value any) {
		b, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{SecretId: &arn,
			SecretString: aws.String(string(b))}); err != nil {
			t.Fatal(err)
		}
	}
	set(t.Context(), worker.Target{BaseURL: running.BaseURL, Key: c.test.Secret})
	t.Cleanup(func() { set(context.Background(), worker.Target{}) })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var probed worker.ProbeResult
	if err := running.Invoke(ctx, "canary", "{}", &probed); err != nil || probed.Error != "" || probed.Idle {
		t.Fatalf("%+v, %v", probed, err)
	}
	if now := levels(c.test.Secret).Probes; now.Count <= before.Count || now.Failed != before.Failed {
		t.Errorf("probes were %+v, and are %+v", before, now)
	}
}
