//go:build deployed

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/content-automation/api/infra/local/system"
)

// deployment is a second customer on the local AWS, in the account that cdk.json names.
type deployment struct {
	t       *testing.T
	dir     string // has a cdk.json that a test may change
	program string
	env     []string
}

// The dedicated customer of cdk.json: its account, its region, and its replica's region.
const (
	otherAccount  = "555566667777"
	otherRegion   = "eu-west-1"
	standbyRegion = "eu-central-1"
	otherName     = "hooli-staging-" + otherRegion
	standbyName   = "hooli-staging-" + standbyRegion
)

func newDeployment(t *testing.T) *deployment {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	d := &deployment{t: t, dir: t.TempDir()}
	for _, folder := range []string{".tools", "build"} {
		if err := os.Symlink(filepath.Join(root, folder), filepath.Join(d.dir, folder)); err != nil {
			t.Fatal(err)
		}
	}
	// The local AWS has neither the customer's hosted zone nor its truststore.
	d.set(root, map[string]any{"domains": nil})
	d.program = filepath.Join(d.dir, "deploy")
	for _, command := range [][]string{
		{"go", "build", "-o", d.dir + "/", "./infra", "./infra/operate/deploy", "./infra/operate/admin"},
		{"node", "infra/tools/media-tools.mjs", "layer", system.Machine().Architecture()},
	} {
		build := exec.CommandContext(t.Context(), command[0], command[1:]...)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	d.env = append(os.Environ(), "AWS_ENDPOINT_URL="+running.Endpoint, "AWS_REGION="+otherRegion,
		// The local AWS takes an access key of 12 digits for an account.
		"AWS_ACCESS_KEY_ID="+otherAccount, "AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true", "CI=1",
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull,
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
		"JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20")
	return d
}

// set copies the cdk.json of a folder to the deployment's, with changed settings of hooli.
func (d *deployment) set(from string, settings map[string]any) {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(from, "cdk.json"))
	if err != nil {
		d.t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(data, &file); err != nil {
		d.t.Fatal(err)
	}
	entry := file["context"].(map[string]any)["customers"].(map[string]any)["hooli"].(map[string]any)
	for name, value := range settings {
		if entry[name] = value; value == nil {
			delete(entry, name)
		}
	}
	// The functions and the layer are already built.
	file["app"], file["build"] = filepath.Join(d.dir, "infra"), "true"
	if data, err = json.Marshal(file); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.dir, "cdk.json"), data, 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// run runs the command on hooli's stage staging, and returns its output.
func (d *deployment) run(action string, flags ...string) (string, error) {
	d.t.Helper()
	args := append([]string{action, "-customer", "hooli", "-stage", "staging", "-arch",
		system.Machine().Architecture()}, flags...)
	cmd := exec.CommandContext(d.t.Context(), d.program, args...)
	cmd.Dir, cmd.Env = d.dir, d.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (d *deployment) must(says, action string, flags ...string) {
	d.t.Helper()
	if out, err := d.run(action, flags...); err != nil || !strings.Contains(out, says) {
		d.t.Fatalf("%s: %v, want %q in\n%s", action, err, says, out)
	}
}

// aws returns the configuration of the account in a region.
func (d *deployment) aws(region string) aws.Config {
	d.t.Helper()
	cfg, err := config.LoadDefaultConfig(d.t.Context(), config.WithRegion(region),
		config.WithBaseEndpoint(running.Endpoint),
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(otherAccount, "test", "")))
	if err != nil {
		d.t.Fatal(err)
	}
	return cfg
}

// stacks returns the outputs of hooli's stacks in a region, by their names.
func (d *deployment) stacks(region string) map[string]map[string]string {
	d.t.Helper()
	out, err := cloudformation.NewFromConfig(d.aws(region)).DescribeStacks(d.t.Context(),
		&cloudformation.DescribeStacksInput{})
	if err != nil {
		d.t.Fatal(err)
	}
	found := map[string]map[string]string{}
	for _, s := range out.Stacks {
		name := aws.ToString(s.StackName)
		if !strings.HasPrefix(name, "hooli-staging-") {
			continue
		}
		found[name] = map[string]string{}
		for _, o := range s.Outputs {
			found[name][aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
		}
	}
	return found
}

// A dedicated customer is deployed next to the local one, changed, and destroyed. The stack of
// its data is only destroyed on request.
func TestACustomerIsDeployedChangedAndDestroyed(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	if out, err := d.run("deploy"); err == nil || !strings.Contains(out, "make bootstrap") {
		t.Fatalf("in an account that is not prepared: %v\n%s", err, out)
	}
	d.must("bootstrapped", "bootstrap")
	d.must(otherName+"-api", "deploy", "-approval", "never")
	made := d.stacks(otherRegion)
	if limit := made[otherName+"-api"]["KeylessLimit"]; len(made) != 4 || limit != "100" {
		t.Fatalf("%d stacks, and a limit of %q", len(made), limit)
	}
	if there := d.stacks(standbyRegion); len(there) != 1 || made[otherName+"-data"]["MediaCopies"] != standbyRegion+
		"/"+there[standbyName+"-data"]["MediaBucket"] {
		t.Fatalf("in the region of the replica there is %v", there)
	}
	d.must("provider credentials", "preflight")
	rehearse(t, d, made)

	d.set(d.dir, map[string]any{"keylessLimit": 250})
	d.must("KeylessLimit", "diff")
	d.must("hooli-staging", "deploy", "-approval", "never")
	changed := d.stacks(otherRegion)
	if limit := changed[otherName+"-api"]["KeylessLimit"]; limit != "250" ||
		changed[otherName+"-data"]["TableName"] != made[otherName+"-data"]["TableName"] {
		t.Errorf("the limit is %q, and the table %q was %q", limit, changed[otherName+"-data"]["TableName"],
			made[otherName+"-data"]["TableName"])
	}
	d.must("-data: 0 changed", "drift")
	failOver(t, d)

	d.must("-data is kept", "destroy", "-yes")
	if left := d.stacks(otherRegion); len(left) != 1 || left[otherName+"-data"] == nil {
		t.Errorf("after destroying, %d stacks are left", len(left))
	}
	d.must("tables", "destroy", "-yes", "-data")
	if left := d.stacks(otherRegion); len(left) != 0 {
		t.Errorf("after destroying the data too, %d stacks are left", len(left))
	}
}
