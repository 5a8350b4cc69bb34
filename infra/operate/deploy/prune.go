package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/content-automation/api/infra/operate/release"
	"github.com/content-automation/api/pkg/cloud/topology"
)

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
