// Command judge analyses the synthesised stacks of customers with cfn-lint and cdk-nag
// (AwsSolutions, Serverless). It fails if one of them finds something that the
// code of the stacks does not accept with a reason.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/app/stack"
	"github.com/content-automation/api/infra/local/system"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/api"
)

// deployment is a deployment whose stacks are analysed.
type deployment struct {
	customer, region string
	// private gives it a private API instead of its domain.
	private bool
	// found has the resources of its replica, as `make deploy` looks them up.
	found string
}

// deployments have customers of shared and of dedicated infrastructure.
var deployments = map[string]deployment{
	"acme": {customer: "acme", region: "eu-central-1"}, "globex": {customer: "globex", region: "us-east-1"},
	"hooli":         {customer: "hooli", region: "eu-west-1", found: replica},
	"hooli-private": {customer: "hooli", region: "eu-west-1", private: true},
	// After the loss of the customer's region.
	"hooli-replica": {customer: "hooli", region: "eu-central-1", found: replica},
}

// replica stands in for the resources of hooli's replica that `make deploy` looks up.
const replica = `{"secretsKey": "arn:aws:kms:eu-west-1:555566667777:key/mrk-1234abcd12ab34cd56ef1234567890ab",
	"stateStream": "arn:aws:dynamodb:eu-central-1:555566667777:table/hooli-prod-state/stream/2026-11-22T00:00:00.000",
	"auditStream": "arn:aws:dynamodb:eu-central-1:555566667777:table/hooli-prod-audit/stream/2026-11-22T00:00:00.000",
	"secrets": {"seal": "arn:aws:secretsmanager:eu-central-1:555566667777:secret:hooli/prod/seal-AbCdEf",
		"provider": "arn:aws:secretsmanager:eu-central-1:555566667777:secret:hooli/prod/provider-AbCdEf",
		"platform": "arn:aws:secretsmanager:eu-central-1:555566667777:secret:hooli/prod/platform-AbCdEf",
		"canary": "arn:aws:secretsmanager:eu-central-1:555566667777:secret:hooli/prod/canary-AbCdEf"}}`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	stack.CloseKernel()
	if err != nil {
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	if err := system.Install(ctx, root, func(step string) { fmt.Println(step) }, system.Judges); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "judge")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	assets := filepath.Join(dir, "build")
	for _, program := range topology.Programs() {
		if err := placeholder(filepath.Join(assets, program), "bootstrap"); err != nil {
			return err
		}
	}
	for _, architecture := range []string{"arm64", "x86_64"} {
		layer := filepath.Join(dir, "layer", architecture)
		err := errors.Join(placeholder(filepath.Join(layer, "bin"), "ffmpeg"),
			placeholder(filepath.Join(layer, "lib"), "libc2pa_c.so"))
		if err != nil {
			return err
		}
	}
	tools, err := judges(root, dir, assets)
	if err != nil {
		return err
	}
	return analyse(ctx, dir, tools)
}

// judges synthesises all deployments, and returns the tools with the templates to analyse. It
// includes a template that two deployments share only once.
func judges(root, dir, assets string) (tools []tool, err error) {
	python := filepath.Join(root, ".tools", "judges-python", "bin")
	nag := filepath.Join(root, "infra", "tools", "judges", "nag.mjs")
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(deployments)) {
		templates, err := synthesise(filepath.Join(dir, name), assets, deployments[name])
		if err != nil {
			return nil, err
		}
		if templates, err = unseen(seen, deployments[name].region, templates); err != nil {
			return nil, err
		}
		if len(templates) == 0 {
			continue
		}
		tools = append(tools,
			// The CDK makes functions depend on their roles, although each already names its role.
			// The address that the canary calls has an endpoint of the stack data, and is an output.
			tool{"cfn-lint of " + name, append([]string{filepath.Join(python, "cfn-lint"), "--regions",
				deployments[name].region, "--ignore-checks", "W3005", "W6001", "--"}, templates...)},
			tool{"cdk-nag of " + name, append([]string{"node", nag, filepath.Join(root, ".tools", "judges-node",
				"node_modules"), filepath.Join(dir, name+"-nag")}, templates...)},
		)
	}
	return tools, nil
}

// unseen returns the templates whose content is new for the region.
func unseen(seen map[string]bool, region string, templates []string) (fresh []string, err error) {
	for _, name := range templates {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if key := region + string(content); !seen[key] {
			seen[key] = true
			fresh = append(fresh, name)
		}
	}
	return fresh, nil
}

// placeholder writes a file in place of a built function, whose code is not analysed.
func placeholder(folder, name string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name), []byte(folder), 0o755)
}

// synthesise writes the templates of a deployment, and returns their paths.
func synthesise(out, assets string, of deployment) ([]string, error) {
	data, err := os.ReadFile("cdk.json")
	if err != nil {
		return nil, err
	}
	var config struct{ Context map[string]any }
	if err := json.Unmarshal(data, &config); err != nil {
		return nil, fmt.Errorf("reading cdk.json: %w", err)
	}
	maps.Copy(config.Context, map[string]any{"customer": of.customer, "region": of.region, "found": of.found,
		"assets": assets})
	if of.private {
		entry := config.Context["customers"].(map[string]any)[of.customer].(map[string]any)
		delete(entry, "domains")
		entry["privateEndpoints"] = []string{"vpce-0a1b2c3d4e5f67890"}
	}
	app := awscdk.NewApp(&awscdk.AppProps{Context: &config.Context, Outdir: jsii.String(out),
		AnalyticsReporting: jsii.Bool(false)})
	settings, err := customer.Read(func(key string) any { return app.Node().TryGetContext(jsii.String(key)) })
	if err != nil {
		return nil, err
	}
	if err := stack.Add(app, settings, api.Routes()); err != nil {
		return nil, err
	}
	app.Synth(nil)
	return filepath.Glob(filepath.Join(out, "*.template.json"))
}

// tool is an analyser with its arguments.
type tool struct {
	name    string
	command []string
}

// analyse runs the tools, as many at a time as there are processors.
func analyse(ctx context.Context, dir string, tools []tool) error {
	findings, slots := make([]error, len(tools)), make(chan struct{}, runtime.NumCPU())
	var all sync.WaitGroup
	for i, t := range tools {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := t.run(ctx, dir); err != nil {
				findings[i] = fmt.Errorf("%s: %w", t.name, err)
				return
			}
			fmt.Printf("%s: no findings\n", t.name)
		})
	}
	all.Wait()
	return errors.Join(findings...)
}

// run runs the tool, and returns its findings as an error.
func (t tool) run(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, t.command[0], t.command[1:]...)
	cmd.Dir = dir
	var findings, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &findings, &messages
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w\n%s%s", err, findings.String(), messages.String())
	}
	return nil
}
