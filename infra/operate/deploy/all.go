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
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/operate/fleet"
	"github.com/content-automation/api/infra/operate/release"
)

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
