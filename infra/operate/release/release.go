// Package release moves the functions of a deployment between their versions, by the alias
// through which they are called. CodeDeploy does this with each deployment. The package is
// for operators who move one function by hand, and for an AWS without CodeDeploy.
package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// Alias is the alias by which functions are called.
const Alias = "live"

// every is the time between two checks of a new version while it gets a part of the calls.
const every = 30 * time.Second

// Lambda is the part of AWS Lambda that the package uses.
type Lambda interface {
	GetAlias(context.Context, *lambda.GetAliasInput, ...func(*lambda.Options)) (*lambda.GetAliasOutput, error)
	UpdateAlias(context.Context, *lambda.UpdateAliasInput, ...func(*lambda.Options)) (*lambda.UpdateAliasOutput, error)
	ListVersionsByFunction(context.Context, *lambda.ListVersionsByFunctionInput,
		...func(*lambda.Options)) (*lambda.ListVersionsByFunctionOutput, error)
	DeleteFunction(context.Context, *lambda.DeleteFunctionInput,
		...func(*lambda.Options)) (*lambda.DeleteFunctionOutput, error)
}

// Releaser moves aliases.
type Releaser struct {
	Lambda Lambda
	// Errors returns the number of failed calls of a version of a function since a time.
	Errors func(ctx context.Context, function, version string, since time.Time) (float64, error)
	Now    func() time.Time
	// Wait waits, or returns the error of the context.
	Wait func(ctx context.Context, d time.Duration) error
}

// Function has the known versions of a function.
type Function struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`  // in use
	Next     string   `json:"next"`     // gets a part of the calls; empty if no release is in progress
	Versions []string `json:"versions"` // oldest first
	revision *string
}

// ErrRolledBack is returned if a new version failed and the alias was moved back.
var ErrRolledBack = errors.New("the new version failed; the alias is back at the earlier one")

// Find reads the versions of a function.
func (r *Releaser) Find(ctx context.Context, function string) (Function, error) {
	f := Function{Name: function}
	alias, err := r.Lambda.GetAlias(ctx, &lambda.GetAliasInput{FunctionName: &function, Name: aws.String(Alias)})
	if err != nil {
		return f, fmt.Errorf("read the alias %s of %s: %w", Alias, function, err)
	}
	f.Version, f.revision = aws.ToString(alias.FunctionVersion), alias.RevisionId
	if alias.RoutingConfig != nil {
		for version := range alias.RoutingConfig.AdditionalVersionWeights {
			f.Next = version
		}
	}
	in := &lambda.ListVersionsByFunctionInput{FunctionName: &function}
	for {
		page, err := r.Lambda.ListVersionsByFunction(ctx, in)
		if err != nil {
			return f, fmt.Errorf("list the versions of %s: %w", function, err)
		}
		for _, v := range page.Versions {
			if number(aws.ToString(v.Version)) > 0 {
				f.Versions = append(f.Versions, *v.Version)
			}
		}
		if in.Marker = page.NextMarker; aws.ToString(in.Marker) == "" {
			break
		}
	}
	slices.SortFunc(f.Versions, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return f, nil
}

// number returns the number of a version, or 0 for $LATEST.
func number(version string) int {
	n, _ := strconv.Atoi(version)
	return n
}

// Shift gives a new version a part of the calls. If no call has failed after bake, it gives it
// all calls. If a call fails, or the context ends, the earlier version gets all calls again.
func (r *Releaser) Shift(ctx context.Context, function, version string, percent int, bake time.Duration) error {
	f, err := r.Find(ctx, function)
	switch {
	case err != nil:
		return err
	case percent < 1 || percent > 99:
		return fmt.Errorf("a new version begins with 1 to 99 percent of the calls, not %d", percent)
	case f.Next != "":
		return fmt.Errorf("the version %s of %s has a part of the calls: wait for the end of its release, or end it "+
			"with `admin release rollback`", f.Next, function)
	case version == f.Version:
		return fmt.Errorf("%s uses the version %s already", function, version)
	case !slices.Contains(f.Versions, version):
		return fmt.Errorf("%s has no version %s; it has %v", function, version, f.Versions)
	}
	if f, err = r.move(ctx, f, f.Version, map[string]float64{version: float64(percent) / 100}); err != nil {
		return err
	}
	began := r.Now()
	for r.Now().Before(began.Add(bake)) {
		failed, err := 0.0, r.Wait(ctx, min(every, bake))
		if err == nil {
			failed, err = r.Errors(ctx, function, version, began)
		}
		if err == nil && failed == 0 {
			continue
		}
		_, back := r.move(context.WithoutCancel(ctx), f, f.Version, nil)
		if back != nil {
			return errors.Join(err, fmt.Errorf("the version %s of %s still has %d percent of the calls: %w", version,
				function, percent, back))
		}
		if err == nil {
			err = fmt.Errorf("%.0f calls of the version %s of %s failed", failed, version, function)
		}
		return errors.Join(ErrRolledBack, err)
	}
	_, err = r.move(ctx, f, version, nil)
	return err
}

// Rollback gives all calls to an earlier version, and returns it. This is the named version, if
// any; else the version in use if a release is in progress; else the version before it.
func (r *Releaser) Rollback(ctx context.Context, function, version string) (string, error) {
	f, err := r.Find(ctx, function)
	if err != nil {
		return "", err
	}
	at := slices.Index(f.Versions, f.Version)
	switch {
	case version != "" && !slices.Contains(f.Versions, version):
		return "", fmt.Errorf("%s has no version %s; it has %v", function, version, f.Versions)
	case version != "":
	case f.Next != "":
		version = f.Version
	case at < 1:
		return "", fmt.Errorf("%s has no version before %s", function, f.Version)
	default:
		version = f.Versions[at-1]
	}
	_, err = r.move(ctx, f, version, nil)
	return version, err
}

// move sets the alias of f, unless somebody else has moved it since f was read. A move whose answer was lost, and a
// change of the alias that leaves its versions, give it another revision: move reads the alias again and goes on.
func (r *Releaser) move(ctx context.Context, f Function, version string, weights map[string]float64) (Function, error) {
	for tries := 1; ; tries++ {
		out, err := r.Lambda.UpdateAlias(ctx, &lambda.UpdateAliasInput{
			FunctionName: &f.Name, Name: aws.String(Alias), FunctionVersion: &version, RevisionId: f.revision,
			RoutingConfig: &types.AliasRoutingConfiguration{AdditionalVersionWeights: weights},
		})
		moved := Function{Name: f.Name, Version: version, Versions: f.Versions}
		for next := range weights {
			moved.Next = next
		}
		if err == nil {
			moved.revision = out.RevisionId
			return moved, nil
		}
		err = fmt.Errorf("move the alias %s of %s: %w", Alias, f.Name, err)
		if _, stale := errors.AsType[*types.PreconditionFailedException](err); !stale || tries == 3 {
			return f, err
		}
		now, failed := r.Find(ctx, f.Name)
		switch {
		case failed != nil:
			return f, errors.Join(err, failed)
		case now.Version == moved.Version && now.Next == moved.Next:
			return now, nil
		case now.Version != f.Version || now.Next != f.Next:
			return f, err
		}
		f.revision = now.revision
	}
}

// Prune deletes the versions of a function except the newest ones and those in use. It returns
// the deleted versions.
func (r *Releaser) Prune(ctx context.Context, function string, keep int) (deleted []string, err error) {
	f, err := r.Find(ctx, function)
	if err != nil {
		return nil, err
	}
	for _, version := range f.Versions[:max(0, len(f.Versions)-keep)] {
		if version == f.Version || version == f.Next {
			continue
		}
		if _, err := r.Lambda.DeleteFunction(ctx, &lambda.DeleteFunctionInput{FunctionName: &function,
			Qualifier: &version}); err != nil {
			return deleted, fmt.Errorf("delete the version %s of %s: %w", version, function, err)
		}
		deleted = append(deleted, version)
	}
	return deleted, nil
}
