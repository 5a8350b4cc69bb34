// Command judge analyses the synthesised stacks of customers, and the template of the role that deploys them, with
// cfn-lint and cdk-nag (AwsSolutions, Serverless), and compares the actions of their policies with IAM's own list. It
// fails if one of them finds something that the code of the stacks does not accept with a reason.
//
// With -actions it compares the actions alone, and with -update it writes the table of actions that tests read.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/app/stack"
	"github.com/content-automation/api/infra/local/system"
	"github.com/content-automation/api/infra/verify/judge/iam"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/api"
)

// deployment is a deployment whose stacks are analysed.
type deployment struct {
	customer, region string
	// private gives it a private API instead of its domain.
	private bool
	// sender is the address of its e-mails to people, if it has one.
	sender string
	// found has the resources of its replica, as `make deploy` looks them up.
	found string
}

// deployments have customers of shared and of dedicated infrastructure.
var deployments = map[string]deployment{
	"acme": {customer: "acme", region: "eu-central-1"}, "globex": {customer: "globex", region: "us-east-1"},
	"hooli":         {customer: "hooli", region: "eu-west-1", found: replica, sender: "no-reply@hooli.example"},
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

// deployRole is the template of the role that deploys the stacks.
const deployRole = "infra/operate/deploy/role.json"

var (
	actionsOnly = flag.Bool("actions", false, "compare the actions of policies with IAM's list, and nothing else")
	update      = flag.Bool("update", false, "write the table of actions")
)

func main() {
	flag.Parse()
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
	sets := system.IAM
	if !*actionsOnly {
		sets = slices.Concat(sets, system.Judges)
	}
	if err := system.Install(ctx, root, func(step string) { fmt.Println(step) }, sets); err != nil {
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
	tools, templates, err := judges(root, dir, assets)
	if err != nil {
		return err
	}
	if err := judgeActions(ctx, root, templates); err != nil || *actionsOnly {
		return err
	}
	return analyse(ctx, dir, tools)
}

// judges synthesises all deployments, and returns the tools with the templates to analyse, and all templates. It
// includes a template that two deployments share only once.
func judges(root, dir, assets string) (tools []tool, all []string, err error) {
	python := filepath.Join(root, ".tools", "judges-python", "bin")
	nag := filepath.Join(root, "infra", "tools", "judges", "nag.mjs")
	add := func(name, region string, templates []string) {
		tools = append(tools,
			// The CDK makes functions depend on their roles, although each already names its role.
			// The address that the canary calls has an endpoint of the stack data, and is an output.
			tool{"cfn-lint of " + name, append([]string{filepath.Join(python, "cfn-lint"), "--regions",
				region, "--ignore-checks", "W3005", "W6001", "--"}, templates...)},
			tool{"cdk-nag of " + name, append([]string{"node", nag, filepath.Join(root, ".tools", "judges-node",
				"node_modules"), filepath.Join(dir, name+"-nag")}, templates...)},
		)
		all = append(all, templates...)
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(deployments)) {
		templates, err := synthesise(filepath.Join(dir, name), assets, deployments[name])
		if err != nil {
			return nil, nil, err
		}
		if templates, err = unseen(seen, deployments[name].region, templates); err != nil {
			return nil, nil, err
		}
		if len(templates) > 0 {
			add(name, deployments[name].region, templates)
		}
	}
	role, err := os.ReadFile(deployRole)
	if err != nil {
		return nil, nil, err
	}
	named := filepath.Join(dir, "role.template.json")
	add("the role of deployments", "eu-central-1", []string{named})
	return tools, all, os.WriteFile(named, role, 0o600)
}

// judgeActions compares the actions of all templates with IAM's list and with the table that tests read.
func judgeActions(ctx context.Context, root string, templates []string) error {
	used := map[string]bool{}
	var faults []error
	for _, name := range templates {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		actions, err := iam.Actions(text)
		if err != nil {
			return err
		}
		for _, a := range actions {
			used[a] = true
		}
		if err := iam.Secrets(text); err != nil && filepath.Base(name) == "role.template.json" {
			faults = append(faults, fmt.Errorf("%s: %w", filepath.Base(name), err))
		}
	}
	cmd := exec.CommandContext(ctx, filepath.Join(root, ".tools", "iam-python", "bin", "python"),
		filepath.Join(root, "infra", "tools", "iam", "actions.py"))
	cmd.Stdin = strings.NewReader(strings.Join(slices.Sorted(maps.Keys(used)), "\n"))
	cmd.Stderr = os.Stderr
	table, err := cmd.Output()
	if err != nil {
		return err
	}
	for action, level := range iam.Parse(string(table)) {
		if level == "" {
			faults = append(faults, fmt.Errorf("IAM has no action %s", action))
		}
	}
	file := filepath.Join(root, iam.File)
	if *update && faults == nil {
		faults = append(faults, os.WriteFile(file, table, 0o644))
	}
	if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, table) {
		faults = append(faults, fmt.Errorf("%s is not what IAM says of the actions in use: run "+
			"go run ./infra/verify/judge -actions -update", iam.File))
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	fmt.Printf("IAM has all %d actions of the policies\n", len(used))
	return nil
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
	entry := config.Context["customers"].(map[string]any)[of.customer].(map[string]any)
	if of.sender != "" {
		entry["mailSender"], entry["signInSender"] = of.sender, of.sender
	}
	if of.private {
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
