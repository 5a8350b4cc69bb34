package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cloudwatchtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/operate/release"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// deployment deploys the stacks of an order.
type deployment struct {
	// cdk runs a command of the CDK with credentials that it gets anew.
	cdk func(ctx context.Context, args ...string) error
	// deployed returns the template of a stack, or "" if there is no stack yet.
	deployed func(ctx context.Context, stack string) (string, error)
	// folder gets the synthesised templates.
	folder string
}

// stacks deploys the stacks in their order. Each gets a session of its own, since the session of an assumed role ends
// after an hour and a stack takes up to three quarters of it.
//
// The gateway names its functions by their addresses, so that CloudFormation does not know who calls them. A function
// that a release removes therefore stays until the last stack, which has the gateway, is deployed.
//
// The gates of a release, which are alarms, cost money by the hour. They are made with each stack, and deleted once all
// stacks are deployed.
func (d deployment) stacks(ctx context.Context, approval string) error {
	if err := d.cdk(ctx, "synth", "--quiet", "--output", d.folder); err != nil {
		return err
	}
	all, err := stacksIn(d.folder)
	if err != nil {
		return fmt.Errorf("read the synthesised stacks: %w", err)
	}
	deploy := func(folder string, s synthesised, gates string) error {
		args := []string{"deploy", s.name, "--exclusively", "--app", folder, "--require-approval", approval}
		if s.gated {
			args = append(args, "--parameters", s.name+":"+customer.GatesParameter+"="+gates)
		}
		return d.cdk(ctx, args...)
	}
	var later []synthesised
	for i, s := range all {
		folder := d.folder
		if i < len(all)-1 {
			if folder, err = d.keepRemoved(ctx, s); err != nil {
				return err
			}
		}
		if folder != d.folder || s.gated {
			later = append(later, s)
		}
		if err := deploy(folder, s, "on"); err != nil {
			return fmt.Errorf("deploy the stack %s: %w", s.name, err)
		}
	}
	for _, s := range later {
		if err := deploy(d.folder, s, "off"); err != nil {
			return fmt.Errorf("delete what the release needed of the stack %s: %w", s.name, err)
		}
	}
	return nil
}

// synthesised is a stack of a cloud assembly.
type synthesised struct {
	// file is the name of the template in the folder of the assembly, and text its content.
	name, file string
	text       []byte
	// gated reports that the stack has the parameter for gates.
	gated bool
}

// stacksIn returns the stacks of an assembly, each after those that it depends on.
func stacksIn(folder string) (all []synthesised, err error) {
	var manifest struct {
		Artifacts map[string]struct {
			Type         string
			Dependencies []string
			Properties   struct{ TemplateFile string }
		}
	}
	data, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(data, &manifest)
	}
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	var add func(name string) error
	add = func(name string) error {
		a := manifest.Artifacts[name]
		if a.Type != "aws:cloudformation:stack" || known[name] {
			return nil
		}
		known[name] = true
		for _, before := range slices.Sorted(slices.Values(a.Dependencies)) {
			if err := add(before); err != nil {
				return err
			}
		}
		text, err := os.ReadFile(filepath.Join(folder, a.Properties.TemplateFile))
		if err != nil {
			return err
		}
		template, err := readTemplate(text)
		_, gated := template["Parameters"][customer.GatesParameter]
		all = append(all, synthesised{name, a.Properties.TemplateFile, text, gated})
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(manifest.Artifacts)) {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, errors.New("there are none")
	}
	return all, nil
}

// keepRemoved returns the folder of an assembly whose template of the stack still has what the deployed one has beside.
// It is the folder of the deployment if the release removes no function from the stack.
func (d deployment) keepRemoved(ctx context.Context, s synthesised) (string, error) {
	text, err := d.deployed(ctx, s.name)
	if err != nil || text == "" {
		return d.folder, err
	}
	both, err := withRemoved([]byte(text), s.text)
	if err != nil {
		return "", fmt.Errorf("compare the template of %s with the deployed one: %w", s.name, err)
	}
	if both == nil {
		return d.folder, nil
	}
	folder := d.folder + "-" + s.name
	if err := errors.Join(os.RemoveAll(folder), os.CopyFS(folder, os.DirFS(d.folder))); err != nil {
		return "", err
	}
	return folder, replaceTemplate(folder, s, both)
}

// replaceTemplate replaces a template in an assembly. Its name in the bucket of the CDK is the hash of its content, so
// that it does not take the place of the template that follows.
func replaceTemplate(folder string, s synthesised, after []byte) error {
	old, now := sha256.Sum256(s.text), sha256.Sum256(after)
	failed := os.WriteFile(filepath.Join(folder, s.file), after, 0o644)
	for _, name := range []string{"manifest.json", s.name + ".assets.json"} {
		path := filepath.Join(folder, name)
		data, err := os.ReadFile(path)
		if err != nil {
			return errors.Join(failed, err)
		}
		text := string(data)
		hash := hex.EncodeToString(old[:])
		if !strings.Contains(text, hash) {
			return fmt.Errorf("%s does not name the template of %s by its hash", path, s.name)
		}
		failed = errors.Join(failed, os.WriteFile(path,
			[]byte(strings.ReplaceAll(text, hash, hex.EncodeToString(now[:]))), 0o644))
	}
	return failed
}

// sections are the sections of a template whose entries a function may need.
var sections = []string{"Parameters", "Mappings", "Conditions", "Resources", "Outputs"}

// withRemoved returns the next template with all entries of the deployed one that it lacks, or nil if it lacks none of
// the functions.
func withRemoved(deployed, next []byte) ([]byte, error) {
	was, err := readTemplate(deployed)
	if err != nil {
		return nil, err
	}
	will, err := readTemplate(next)
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	if err := json.Unmarshal(next, &all); err != nil {
		return nil, err
	}
	removed := false
	for _, section := range sections {
		for name, entry := range was[section] {
			if _, stays := will[section][name]; stays {
				continue
			}
			resource, _ := entry.(map[string]any)
			removed = removed || section == "Resources" && resource["Type"] == "AWS::Lambda::Function"
			if will[section] == nil {
				will[section] = map[string]any{}
			}
			will[section][name] = entry
		}
		if will[section] != nil {
			all[section] = will[section]
		}
	}
	if !removed {
		return nil, nil
	}
	return json.MarshalIndent(all, "", " ")
}

// readTemplate returns the sections of a template.
func readTemplate(text []byte) (map[string]map[string]any, error) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	read := map[string]map[string]any{}
	for _, section := range sections {
		if all[section] == nil {
			continue
		}
		entries := map[string]any{}
		if err := json.Unmarshal(all[section], &entries); err != nil {
			return nil, fmt.Errorf("%s: %w", section, err)
		}
		read[section] = entries
	}
	return read, nil
}

// deployedTemplate reads the template of a stack from CloudFormation.
func (o order) deployedTemplate(ctx context.Context, stack string) (string, error) {
	cfg, err := o.config(ctx)
	if err != nil {
		return "", err
	}
	out, err := cloudformation.NewFromConfig(cfg).GetTemplate(ctx, &cloudformation.GetTemplateInput{StackName: &stack})
	if missing(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the template of %s: %w", stack, err)
	}
	return aws.ToString(out.TemplateBody), nil
}

// stops reports whether an alarm of a stack stops a wave. CloudFormation has the name that the stack gives it, and the
// CDK has added eight digits to that.
func stops(kind, logical string) bool {
	if kind == "AWS::CloudWatch::CompositeAlarm" {
		return true // of the budget of errors
	}
	name := logical[:max(0, len(logical)-len("12345678"))]
	return kind == "AWS::CloudWatch::Alarm" &&
		slices.ContainsFunc(customer.StoppingAlarms, func(end string) bool { return strings.HasSuffix(name, end) })
}

// burned returns the raised alarms of a stack that stop a wave.
func burned(ctx context.Context, stacks resources, alarms budgets, stack string) (raised []string, err error) {
	names, err := alarmsOf(ctx, stacks, stack)
	if err != nil {
		return nil, err
	}
	known := 0
	note := func(name *string, state cloudwatchtypes.StateValue) {
		known++
		if state == cloudwatchtypes.StateValueAlarm {
			raised = append(raised, names[aws.ToString(name)])
		}
	}
	physical := slices.Sorted(maps.Keys(names))
	// CloudWatch takes a hundred names, and returns as many alarms of both kinds.
	for some := range slices.Chunk(physical, 100) {
		out, err := alarms.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{AlarmNames: some,
			MaxRecords: aws.Int32(100), AlarmTypes: []cloudwatchtypes.AlarmType{cloudwatchtypes.AlarmTypeCompositeAlarm,
				cloudwatchtypes.AlarmTypeMetricAlarm}})
		if err != nil {
			return nil, fmt.Errorf("read the alarms of %s: %w", stack, err)
		}
		for _, a := range out.CompositeAlarms {
			note(a.AlarmName, a.StateValue)
		}
		for _, a := range out.MetricAlarms {
			note(a.AlarmName, a.StateValue)
		}
	}
	if known != len(names) {
		return nil, fmt.Errorf("the stack %s has %d alarms that stop a wave, and CloudWatch knows %d", stack,
			len(names), known)
	}
	return raised, nil
}

// alarmsOf returns the logical ids of the alarms of a stack that stop a wave, by their names in CloudWatch.
func alarmsOf(ctx context.Context, stacks resources, stack string) (map[string]string, error) {
	names := map[string]string{}
	in := &cloudformation.ListStackResourcesInput{StackName: &stack}
	for {
		page, err := stacks.ListStackResources(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("list the alarms of %s: %w", stack, err)
		}
		for _, r := range page.StackResourceSummaries {
			if logical := aws.ToString(r.LogicalResourceId); stops(aws.ToString(r.ResourceType), logical) {
				names[aws.ToString(r.PhysicalResourceId)] = logical
			}
		}
		if in.NextToken = page.NextToken; aws.ToString(in.NextToken) == "" {
			break
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("the stack %s has no alarm that stops a wave: deploy it by `make deploy` first", stack)
	}
	return names, nil
}

// keptVersions is the number of versions of each function that stay after a deployment, to go back to.
// All versions of an account share 75 GB, and a release adds about 170 MB.
const keptVersions = 5

// pruneVersions deletes old versions of all functions. The stacks are deployed by then, so that a failure is told and
// fails nothing.
func pruneVersions(ctx context.Context, o order, out io.Writer) {
	cfg, err := o.config(ctx)
	if err == nil {
		err = pruneAll(ctx, o, release.Open(cfg, o.Short()).Prune)
	}
	if err != nil {
		// A lost line is no reason to fail either.
		_, _ = fmt.Fprintf(out, "Old versions of functions are still there: %v. Delete them by "+
			"`admin release prune`.\n", err)
	}
}

// pruneAll prunes each function with an alias, and goes on after a failure.
func pruneAll(ctx context.Context, o order,
	prune func(ctx context.Context, function string, keep int) ([]string, error)) error {
	var failed []error
	for _, f := range topology.Functions {
		if f.Trigger == topology.ByRotation {
			continue // Secrets Manager calls it without an alias, so that no release has versions of it.
		}
		if _, err := prune(ctx, o.Short()+"-"+f.Name, keptVersions); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
