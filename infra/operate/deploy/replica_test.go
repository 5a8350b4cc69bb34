package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/customer"
)

// regional is an AWS with the resources of each region, by operation and name.
type regional struct {
	answers map[string]string
	asked   []string // regions
}

func (a *regional) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	region := strings.Split(r.Header.Get("Authorization"), "/")[2]
	a.asked = append(a.asked, region)
	var in struct{ KeyId, TableName, SecretId string }
	_ = json.NewDecoder(r.Body).Decode(&in)
	answer, ok := a.answers[region+" "+operation+" "+in.KeyId+in.TableName+in.SecretId]
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
		answer = `{"__type": "` + map[bool]string{true: "NotFoundException",
			false: "ResourceNotFoundException"}[operation == "DescribeKey"] + `"}`
	}
	_, _ = fmt.Fprint(w, answer)
}

// hooli returns the order of the customer with a replica, in a region.
func hooli(t *testing.T, region string, answers map[string]string) (order, *regional) {
	t.Helper()
	a := &regional{answers: answers}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "NO_PROXY": "127.0.0.1",
		"AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(name, value)
	}
	o, err := read([]string{"-customer", "hooli", "-region", region})
	if err != nil {
		t.Fatal(err)
	}
	return o, a
}

const primary = `{"KeyMetadata": {"KeyId": "mrk-1", "MultiRegionConfiguration": {"PrimaryKey": {"Arn": "arn:primary"}}}}`

// In the replica's region, all resources are looked up there, because the other region may be
// lost.
func TestTheReplicaIsLookedUpInItsOwnRegion(t *testing.T) {
	answers := map[string]string{
		"eu-central-1 DescribeKey alias/hooli-prod-secrets": primary,
		"eu-central-1 DescribeTable hooli-prod-state":       `{"Table": {"LatestStreamArn": "arn:state"}}`,
		"eu-central-1 DescribeTable hooli-prod-audit":       `{"Table": {"LatestStreamArn": "arn:audit"}}`,
	}
	for _, name := range customer.SharedSecrets {
		answers["eu-central-1 DescribeSecret hooli/prod/"+name] = `{"ARN": "arn:` + name + `"}`
	}
	o, aws := hooli(t, "eu-central-1", answers)
	values, err := lookUp(t.Context(), o)
	if err != nil || len(values) != 2 {
		t.Fatalf("%v, %v", values, err)
	}
	want := `found={"secretsKey":"arn:primary","stateStream":"arn:state","auditStream":"arn:audit","secrets":{"canary":"arn:canary","platform":"arn:platform","provider":"arn:provider","seal":"arn:seal"}}`
	if values[1] != want {
		t.Errorf("found %s", values[1])
	}
	if slices.ContainsFunc(aws.asked, func(region string) bool { return region != "eu-central-1" }) {
		t.Errorf("it asks %v", aws.asked)
	}
	answers["eu-central-1 DescribeSecret hooli/prod/seal"] = `{"ARN": "arn:seal", "PrimaryRegion": "eu-west-1"}`
	if _, err := lookUp(t.Context(), o); err == nil ||
		!strings.Contains(err.Error(),
			"stop-replication-to-replica --region eu-central-1 --secret-id hooli/prod/seal") {
		t.Errorf("while a secret is a replica: %v", err)
	}
	delete(answers, "eu-central-1 DescribeTable hooli-prod-audit")
	if _, err := lookUp(t.Context(), o); err == nil ||
		!strings.Contains(err.Error(), "the replica of the table hooli-prod-audit in eu-central-1") {
		t.Errorf("without a table: %v", err)
	}
}

// The key of the secrets exists only after the first deployment, and must be a multi-Region key.
func TestTheKeyOfTheReplica(t *testing.T) {
	const name = "eu-west-1 DescribeKey alias/hooli-prod-secrets"
	for answer, want := range map[string]string{"": `found={}`, primary: `found={"secretsKey":"arn:primary"}`} {
		answers := map[string]string{}
		if answer != "" {
			answers[name] = answer
		}
		o, _ := hooli(t, "", answers)
		if values, err := lookUp(t.Context(), o); err != nil || values[1] != want {
			t.Errorf("%v, %v, want %s", values, err, want)
		}
		if regions := o.regions(); len(regions) != 2 || regions[1].Name() != "hooli-prod-eu-central-1" {
			t.Errorf("it deploys to %d regions", len(regions))
		}
	}
	o, _ := hooli(t, "", map[string]string{name: `{"KeyMetadata": {"KeyId": "1"}}`})
	if _, err := lookUp(t.Context(), o); err == nil || !strings.Contains(err.Error(), "is of eu-west-1 alone") {
		t.Errorf("a key of one region: %v", err)
	}
	if values, err := lookUp(t.Context(), acme(t)); values != nil || err != nil {
		t.Errorf("without a replica: %v, %v", values, err)
	}
}
