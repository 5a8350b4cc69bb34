//go:build deployed

package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// rehearsal releases versions of the function docs of a deployment.
type rehearsal struct {
	*deployment
	client   *lambda.Client
	function string
	env      []string
}

func newRehearsal(d *deployment, outputs map[string]map[string]string) *rehearsal {
	d.t.Helper()
	return &rehearsal{d, lambda.NewFromConfig(d.aws(otherRegion)), "hooli-staging-docs",
		append(d.env, "STACK_NAME="+otherName, "AUDIT_TABLE_NAME="+outputs[otherName+"-data"]["AuditTableName"])}
}

// publish publishes a version after a change of the function, and returns its number.
func (r *rehearsal) publish() string {
	r.t.Helper()
	out, err := r.client.PublishVersion(r.t.Context(), &lambda.PublishVersionInput{FunctionName: &r.function})
	if err != nil {
		r.t.Fatal(err)
	}
	return *out.Version
}

// calls calls the function by its alias, and returns the number of failed calls.
func (r *rehearsal) calls(n int) (failed int64) {
	event, _ := json.Marshal(map[string]any{"resource": "/healthz", "path": "/healthz", "httpMethod": "GET",
		"requestContext": map[string]any{"stage": "staging", "requestId": "1"}})
	for range n {
		out, err := r.client.Invoke(r.t.Context(), &lambda.InvokeInput{FunctionName: &r.function,
			Qualifier: aws.String("live"), Payload: event})
		var answer struct{ StatusCode int }
		if err != nil || out.FunctionError != nil || json.Unmarshal(out.Payload, &answer) != nil ||
			answer.StatusCode != http.StatusOK {
			failed++
		}
	}
	return failed
}

// admin runs a command of the operator while calls are made, and returns its output.
func (r *rehearsal) admin(args ...string) (out string, failed int64, err error) {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), filepath.Join(r.dir, "admin"), append([]string{"release"}, args...)...)
	cmd.Env = r.env
	var done atomic.Bool
	counted := make(chan int64)
	go func() {
		var all int64
		for !done.Load() {
			all += r.calls(1)
		}
		counted <- all
	}()
	text, err := cmd.CombinedOutput()
	done.Store(true)
	return string(text), <-counted, err
}

// inUse returns the version of the alias.
func (r *rehearsal) inUse() (version string, weights map[string]float64) {
	r.t.Helper()
	out, err := r.client.GetAlias(r.t.Context(), &lambda.GetAliasInput{FunctionName: &r.function,
		Name: aws.String("live")})
	if err != nil {
		r.t.Fatal(err)
	}
	if out.RoutingConfig != nil {
		weights = out.RoutingConfig.AdditionalVersionWeights
	}
	return *out.FunctionVersion, weights
}

// rehearse releases a good version, which gets all calls, and a version that cannot start. A few
// calls to that version fail, and then the earlier version gets all calls again.
func rehearse(t *testing.T, d *deployment, outputs map[string]map[string]string) {
	t.Helper()
	r := newRehearsal(d, outputs)
	first, _ := r.inUse()
	if failed := r.calls(5); failed > 0 {
		t.Fatalf("%d of 5 calls fail before the release", failed)
	}
	if _, err := r.client.UpdateFunctionConfiguration(t.Context(),
		&lambda.UpdateFunctionConfigurationInput{FunctionName: &r.function,
			Description: aws.String("a good version")}); err != nil {
		t.Fatal(err)
	}
	good := r.publish()
	if out, failed, err := r.admin("shift", "docs", "--version", good, "--percent", "30", "--bake",
		"5s"); err != nil || failed > 0 {
		t.Fatalf("the good version: %v, %d calls failed\n%s", err, failed, out)
	}
	if version, weights := r.inUse(); version != good || good == first || len(weights) > 0 {
		t.Fatalf("after the good version %s, %s is in use, with %v", good, version, weights)
	}

	var code bytes.Buffer
	z := zip.NewWriter(&code)
	header := &zip.FileHeader{Name: "bootstrap"}
	header.SetMode(0o755)
	w, err := z.CreateHeader(header)
	if err == nil {
		_, err = w.Write([]byte("#!/bin/sh\nexit 1\n"))
	}
	if err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	if _, err := r.client.UpdateFunctionCode(t.Context(), &lambda.UpdateFunctionCodeInput{FunctionName: &r.function,
		ZipFile: code.Bytes()}); err != nil {
		t.Fatal(err)
	}
	bad := r.publish()
	out, failed, err := r.admin("shift", "docs", "--version", bad, "--percent", "30", "--bake", "20s")
	if err == nil || !strings.Contains(out, "back at the earlier one") || failed == 0 {
		t.Fatalf("the bad version: %v, %d calls failed\n%s", err, failed, out)
	}
	if version, weights := r.inUse(); version != good || len(weights) > 0 {
		t.Errorf("after the bad version, %s is in use, with %v", version, weights)
	}
	if failed := r.calls(10); failed > 0 {
		t.Errorf("%d of 10 calls fail after the roll-back", failed)
	}
	if out, _, err := r.admin("rollback", "docs", "--version", first); err != nil ||
		!strings.Contains(out, "version "+first) {
		t.Errorf("rolling back by hand: %v\n%s", err, out)
	}
	if version, _ := r.inUse(); version != first {
		t.Errorf("%s is in use, not %s", version, first)
	}
}
