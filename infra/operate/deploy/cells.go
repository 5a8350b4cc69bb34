package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/operate/fleet"
	"github.com/content-automation/api/infra/operate/release"
)

// cells implements fleet.Cloud with the accounts of the customers.
type cells struct {
	approval string
	sessions sessions
}

// sessions are the credentials of roles, which renew themselves. They are safe for concurrent
// use.
type sessions struct {
	mu     sync.Mutex
	byRole map[string]aws.CredentialsProvider
}

// of returns the credentials of a customer's account, or nil if the customer has no role for it.
func (s *sessions) of(ctx context.Context, of customer.Settings) (aws.CredentialsProvider, error) {
	if of.DeployRole == "" {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byRole[of.DeployRole] == nil {
		cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(of.Region))
		if err != nil {
			return nil, err
		}
		s.byRole[of.DeployRole] = aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg),
			of.DeployRole, func(o *stscreds.AssumeRoleOptions) {
				o.RoleSessionName, o.Duration = "deploy-all", time.Hour
			}), func(o *aws.CredentialsCacheOptions) {
			// A stack gets a session of at least 45 minutes, and takes less.
			o.ExpiryWindow = 45 * time.Minute
		})
	}
	return s.byRole[of.DeployRole], nil
}

var _ fleet.Cloud = (*cells)(nil)

// State implements fleet.Cloud. It reads the stack of the API, which is deployed last.
func (c *cells) State(ctx context.Context, of customer.Settings) (s fleet.State, err error) {
	o := order{Settings: of}
	if o.credentials, err = c.sessions.of(ctx, of); err != nil {
		return s, err
	}
	cfg, err := o.config(ctx)
	if err != nil {
		return s, err
	}
	return stateOf(ctx, of, cloudformation.NewFromConfig(cfg), cloudwatch.NewFromConfig(cfg))
}

// resources is the part of CloudFormation that a deployment uses, and budgets that of
// CloudWatch.
type (
	resources interface {
		DescribeStacks(context.Context, *cloudformation.DescribeStacksInput,
			...func(*cloudformation.Options)) (*cloudformation.DescribeStacksOutput, error)
		ListStackResources(context.Context, *cloudformation.ListStackResourcesInput,
			...func(*cloudformation.Options)) (*cloudformation.ListStackResourcesOutput, error)
	}
	budgets interface {
		DescribeAlarms(context.Context, *cloudwatch.DescribeAlarmsInput,
			...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error)
	}
)

func stateOf(ctx context.Context, of customer.Settings, stacks resources, alarms budgets) (s fleet.State, err error) {
	name := of.Name() + "-api"
	out, err := stacks.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	if missing(err) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read the stack %s: %w", name, err)
	}
	for _, stack := range out.Stacks {
		switch stack.StackStatus {
		case types.StackStatusCreateComplete, types.StackStatusUpdateComplete,
			types.StackStatusUpdateCompleteCleanupInProgress:
			s.Whole = true
		}
		began := aws.ToTime(stack.CreationTime)
		if stack.LastUpdatedTime != nil {
			began = *stack.LastUpdatedTime
		}
		// The stack has the time at which the deployment began. Until the canary period ends, the
		// old version still gets calls.
		s.Since = began.Add(time.Duration(of.CanaryMinutes) * time.Minute)
		for _, output := range stack.Outputs {
			if aws.ToString(output.OutputKey) == customer.VersionOutput {
				s.Version = aws.ToString(output.OutputValue)
			}
		}
	}
	for _, part := range []string{"api", "work"} {
		raised, err := burned(ctx, stacks, alarms, of.StackName(part))
		if err != nil {
			return s, err
		}
		s.Burned = append(s.Burned, raised...)
	}
	slices.Sort(s.Burned)
	return s, nil
}

// all deploys the stacks of all customers in waves, or only prints the plan.
func all(ctx context.Context, plan bool, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("deploy-all", flag.ContinueOnError)
	version := flags.String("version", "", "version to deploy: the commit of the checkout")
	approval := flags.String("approval", "never", "when to ask before permissions change; the command cannot answer")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *version == "":
		return errors.New("name the version by -version: stacks that run it are skipped")
	case strings.HasSuffix(*version, changed) && !plan:
		return errors.New("the checkout has changes that are not committed: all customers get a version that can be " +
			"found again")
	}
	context, err := cdkContext()
	if err != nil {
		return err
	}
	waves, err := customer.ReadFleet(func(key string) any { return context[key] })
	if err != nil {
		return err
	}
	c := &cells{approval: *approval, sessions: sessions{byRole: map[string]aws.CredentialsProvider{}}}
	r := &fleet.Run{Cloud: c, Waves: waves, Version: *version, Now: time.Now, Wait: release.Wait, Out: out}
	if plan {
		return r.Plan(ctx)
	}
	if err := build(ctx, waves); err != nil {
		return err
	}
	return r.Deploy(ctx)
}

// changed is the suffix of the version of a checkout that differs from its commit.
const changed = "-changed"

// build builds the functions once for each architecture, before several deployments need them.
func build(ctx context.Context, waves []customer.Wave) error {
	var built []string
	for _, w := range waves {
		for _, s := range w.Cells {
			if slices.Contains(built, s.Arch) {
				continue
			}
			built = append(built, s.Arch)
			cmd := exec.CommandContext(ctx, "make", "-s", "build", "ARCH="+s.Arch)
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("make build ARCH=%s: %w", s.Arch, err)
			}
		}
	}
	return nil
}

// Deploy implements fleet.Cloud. Its output goes to build/fleet/<stacks>.log.
func (c *cells) Deploy(ctx context.Context, of customer.Settings, version string) (err error) {
	credentials, err := c.sessions.of(ctx, of)
	if err != nil {
		return err
	}
	folder := filepath.Join("build", "fleet")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	path := filepath.Join(folder, of.Name()+".log")
	log, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	o := orderOf(of, version, folder)
	o.approval, o.credentials, o.log = c.approval, credentials, log
	if err := deploy(ctx, o, strings.NewReader(""), log); err != nil {
		return fmt.Errorf("see %s: %w", path, err)
	}
	return nil
}

// orderOf returns the order for stacks of the fleet, whose functions are already built.
func orderOf(of customer.Settings, version, folder string) order {
	of.Version = version
	o := order{Settings: of}
	for name, value := range map[string]string{"customer": of.Customer, "region": of.Region, "version": version} {
		o.context = append(o.context, "-c", name+"="+value)
	}
	o.built = true
	o.folder = filepath.Join(folder, of.Name())
	return o
}
