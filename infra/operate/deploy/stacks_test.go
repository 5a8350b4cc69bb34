package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The templates of two releases: the second has no function Old, which the deployed gateway still calls.
const (
	withOld = `{"Parameters": {"OldCode": {"Type": "String"}}, "Resources": {
		"Old": {"Type": "AWS::Lambda::Function", "Properties": {"Role": {"Fn::GetAtt": ["OldRole", "Arn"]}}},
		"OldRole": {"Type": "AWS::IAM::Role"}, "Content": {"Type": "AWS::Lambda::Function", "Properties": {"Timeout": 1}}}}`
	withGates  = `{"Parameters": {"Gates": {"Type": "String"}}, "Resources": {}}`
	withoutOld = `{"Resources": {"Content": {"Type": "AWS::Lambda::Function", "Properties": {"Timeout": 2}}}}`
)

// assembly writes what the CDK synthesises: a stack of the gateway, which needs the one of the areas.
func assembly(t *testing.T, folder, areas string) {
	t.Helper()
	hash := sha256.Sum256([]byte(areas))
	for name, text := range map[string]string{
		"areas.template.json": areas,
		"areas.assets.json":   `{"files": {"` + hex.EncodeToString(hash[:]) + `": {}}}`,
		"api.template.json":   withoutOld,
		"manifest.json": `{"artifacts": {
			"api": {"type": "aws:cloudformation:stack", "dependencies": ["areas", "api.assets"],
				"properties": {"templateFile": "api.template.json"}},
			"api.assets": {"type": "cdk:asset-manifest"},
			"areas": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "areas.template.json",
				"stackTemplateAssetObjectUrl": "s3://assets/` + hex.EncodeToString(hash[:]) + `.json"}}}}`,
	} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// releases runs a deployment, and returns what the CDK deployed: the names of stacks, and the functions of the areas.
func releases(t *testing.T, deployed, next string, failing string) (done []string, err error) {
	t.Helper()
	d := deployment{folder: filepath.Join(t.TempDir(), "acme"),
		deployed: func(_ context.Context, stack string) (string, error) {
			if stack != "areas" {
				t.Errorf("the template of %s is read, whose functions the gateway does not call", stack)
			}
			return deployed, nil
		}}
	d.cdk = func(_ context.Context, args ...string) error {
		if args[0] == "synth" {
			assembly(t, d.folder, next)
			return nil
		}
		if !slices.Contains(args, "--exclusively") {
			t.Errorf("%v deploys other stacks, too", args)
		}
		folder := args[slices.Index(args, "--app")+1]
		template, err := os.ReadFile(filepath.Join(folder, args[1]+".template.json"))
		if err != nil {
			t.Fatal(err)
		}
		hash := sha256.Sum256(template)
		assets, _ := os.ReadFile(filepath.Join(folder, "areas.assets.json"))
		if args[1] == "areas" && !strings.Contains(string(assets), hex.EncodeToString(hash[:])) {
			t.Errorf("%v would send another template", args)
		}
		name := args[1]
		for _, function := range []string{"Old", "OldRole", "OldCode", "Content"} {
			if strings.Contains(string(template), `"`+function+`":`) {
				name += " " + function
			}
		}
		if i := slices.Index(args, "--parameters"); i > 0 {
			name += " " + strings.TrimPrefix(args[i+1], args[1]+":")
		}
		done = append(done, name)
		if name == failing {
			return errors.New("UPDATE_ROLLBACK_COMPLETE")
		}
		return nil
	}
	return done, d.stacks(t.Context(), "never")
}

func TestAFunctionGoesAfterTheGatewayHasMoved(t *testing.T) {
	for name, c := range map[string]struct {
		deployed, next, failing string
		want                    []string
	}{
		"the first deployment": {next: withOld, want: []string{"areas Old OldRole OldCode Content", "api Content"}},
		"nothing is removed":   {deployed: withoutOld, next: withoutOld, want: []string{"areas Content", "api Content"}},
		"a function is added": {deployed: withoutOld, next: withOld,
			want: []string{"areas Old OldRole OldCode Content", "api Content"}},
		"a function is removed": {deployed: withOld, next: withoutOld,
			want: []string{"areas Old OldRole OldCode Content", "api Content", "areas Content"}},
		"the gateway stays behind": {deployed: withOld, next: withoutOld, failing: "api Content",
			want: []string{"areas Old OldRole OldCode Content", "api Content"}},
		"a stack has gates": {deployed: withGates, next: withGates,
			want: []string{"areas Gates=on", "api Content", "areas Gates=off"}},
		"the gates end a release": {deployed: withGates, next: withGates, failing: "areas Gates=on",
			want: []string{"areas Gates=on"}},
	} {
		done, err := releases(t, c.deployed, c.next, c.failing)
		if !slices.Equal(done, c.want) || (err != nil) != (c.failing != "") {
			t.Errorf("%s: deployed %q, %v, want %q", name, done, err, c.want)
		}
	}
}

// What both releases have is deployed as the second has it.
func TestTheTemplateInBetween(t *testing.T) {
	both, err := withRemoved([]byte(withOld), []byte(withoutOld))
	if err != nil || !strings.Contains(string(both), `"Timeout": 2`) || strings.Contains(string(both), `"Timeout": 1`) {
		t.Errorf("%s, %v", both, err)
	}
	if _, err := withRemoved([]byte("Resources: {}"), []byte(withoutOld)); err == nil {
		t.Error("a template that is no JSON is compared")
	}
}
