package operate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cloudwatchtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/content-automation/api/infra/operate/release"
)

// double is a function with its versions and its alias.
type double struct {
	version  string
	weights  map[string]float64
	versions []string
	revision int
	moves    []string
	refuse   error           // error of moves
	second   func(d *double) // called before the second move
}

func (d *double) GetAlias(context.Context, *lambda.GetAliasInput,
	...func(*lambda.Options)) (*lambda.GetAliasOutput, error) {
	out := &lambda.GetAliasOutput{FunctionVersion: &d.version, RevisionId: aws.String(fmt.Sprint(d.revision))}
	if len(d.weights) > 0 {
		out.RoutingConfig = &types.AliasRoutingConfiguration{AdditionalVersionWeights: d.weights}
	}
	return out, nil
}

func (d *double) UpdateAlias(_ context.Context, in *lambda.UpdateAliasInput,
	_ ...func(*lambda.Options)) (*lambda.UpdateAliasOutput, error) {
	if d.refuse != nil {
		return nil, d.refuse
	}
	if before := d.second; before != nil && len(d.moves) == 1 {
		d.second = nil
		before(d)
	}
	if *in.RevisionId != fmt.Sprint(d.revision) {
		return nil, &types.PreconditionFailedException{}
	}
	d.version, d.weights = *in.FunctionVersion, in.RoutingConfig.AdditionalVersionWeights
	d.revision++
	d.moves = append(d.moves, fmt.Sprint(d.version, d.weights))
	return &lambda.UpdateAliasOutput{RevisionId: aws.String(fmt.Sprint(d.revision))}, nil
}

func (d *double) ListVersionsByFunction(_ context.Context, in *lambda.ListVersionsByFunctionInput,
	_ ...func(*lambda.Options)) (*lambda.ListVersionsByFunctionOutput, error) {
	all := append([]string{"$LATEST"}, d.versions...)
	if in.Marker == nil { // two pages
		return &lambda.ListVersionsByFunctionOutput{Versions: configurations(all[:2]), NextMarker: aws.String("2")}, nil
	}
	return &lambda.ListVersionsByFunctionOutput{Versions: configurations(all[2:])}, nil
}

func configurations(versions []string) (all []types.FunctionConfiguration) {
	for _, v := range versions {
		all = append(all, types.FunctionConfiguration{Version: aws.String(v)})
	}
	return all
}

func (d *double) DeleteFunction(_ context.Context, in *lambda.DeleteFunctionInput,
	_ ...func(*lambda.Options)) (*lambda.DeleteFunctionOutput, error) {
	d.versions = slices.DeleteFunc(d.versions, func(v string) bool { return v == *in.Qualifier })
	return &lambda.DeleteFunctionOutput{}, nil
}

// releaser has a clock that the waits move, and a function that fails after a time.
func releaser(d *double, failsAfter time.Duration) *release.Releaser {
	start := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	now := start
	return &release.Releaser{
		Lambda: d, Now: func() time.Time { return now },
		Wait: func(ctx context.Context, by time.Duration) error { now = now.Add(by); return ctx.Err() },
		Errors: func(_ context.Context, _, version string, _ time.Time) (float64, error) {
			if version == d.version { // The earlier version fails all the time.
				return 7, nil
			}
			if failsAfter > 0 && now.Sub(start) >= failsAfter {
				return 3, nil
			}
			return 0, nil
		},
	}
}

func TestANewVersionHasAFewCallsBeforeAll(t *testing.T) {
	d := &double{version: "8", versions: []string{"8", "9", "10"}}
	if err := releaser(d, 0).Shift(t.Context(), "f", "10", 10, 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(d.moves, "; "); got != "8map[10:0.1]; 10map[]" {
		t.Errorf("the alias went %s", got)
	}
}

// counted is a CloudWatch with the sums of some metrics.
type counted map[string]float64

func (c counted) GetMetricData(_ context.Context, in *cloudwatch.GetMetricDataInput,
	_ ...func(*cloudwatch.Options)) (*cloudwatch.GetMetricDataOutput, error) {
	m := in.MetricDataQueries[0].MetricStat.Metric
	key := *m.Namespace + " " + *m.MetricName
	for _, d := range m.Dimensions {
		key += " " + *d.Value
	}
	return &cloudwatch.GetMetricDataOutput{MetricDataResults: []cloudwatchtypes.MetricDataResult{
		{Values: []float64{c[key]}}}}, nil
}

// A worker that handles the failure of every task reports no error to Lambda.
func TestAWorkerThatFailsEveryTaskIsRolledBack(t *testing.T) {
	const lambda, own = "AWS/Lambda ", "ContentAutomation/acme/prod HandledFailures acme-prod-generate:9"
	of := " 9 acme-prod-generate acme-prod-generate:live"
	for name, c := range map[string]struct {
		metrics counted
		failed  float64
	}{
		"every task":         {counted{own: 12, lambda + "Invocations" + of: 10}, 12},
		"errors as well":     {counted{own: 12, lambda + "Invocations" + of: 10, lambda + "Errors" + of: 2}, 14},
		"a bad input or two": {counted{own: 2, lambda + "Invocations" + of: 2}, 0},
		"one of ten":         {counted{own: 10, lambda + "Invocations" + of: 100}, 0},
		"nothing":            {counted{lambda + "Invocations" + of: 10}, 0},
	} {
		d := &double{version: "8", versions: []string{"8", "9"}}
		r := releaser(d, 0)
		r.Errors = func(ctx context.Context, function, version string, since time.Time) (float64, error) {
			return release.Failed(ctx, c.metrics, function, version, "ContentAutomation/acme/prod", since, r.Now())
		}
		err := r.Shift(t.Context(), "acme-prod-generate", "9", 10, 10*time.Minute)
		want, moves := fmt.Sprintf("%g calls of the version 9", c.failed), "8map[9:0.1]; 8map[]"
		if c.failed == 0 {
			want, moves = "<nil>", "8map[9:0.1]; 9map[]"
		}
		if !strings.Contains(fmt.Sprint(err), want) || strings.Join(d.moves, "; ") != moves {
			t.Errorf("%s: %v; the alias went %v", name, err, d.moves)
		}
	}
}

func TestAVersionThatFailsIsRolledBack(t *testing.T) {
	d := &double{version: "8", versions: []string{"8", "9"}}
	err := releaser(d, 5*time.Minute).Shift(t.Context(), "f", "9", 10, 10*time.Minute)
	if !errors.Is(err, release.ErrRolledBack) || !strings.Contains(err.Error(), "3 calls of the version 9 of f failed") {
		t.Errorf("got %v", err)
	}
	if got := strings.Join(d.moves, "; "); got != "8map[9:0.1]; 8map[]" {
		t.Errorf("the alias went %s", got)
	}
}

func TestAnInterruptedReleaseIsRolledBack(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := &double{version: "8", versions: []string{"8", "9"}}
	if err := releaser(d, 0).Shift(ctx, "f", "9", 10, 10*time.Minute); !errors.Is(err, release.ErrRolledBack) ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if d.version != "8" || len(d.weights) > 0 {
		t.Errorf("the alias is at %s, %v", d.version, d.weights)
	}
}

// The revision of an alias changes if the answer of a move was lost and the client has repeated it, and if a setting
// of the alias is changed. If somebody else moves the alias meanwhile, it is left there.
func TestAnAliasWithAnotherRevision(t *testing.T) {
	for name, c := range map[string]struct {
		changed func(*double)
		want    string
		says    string
	}{
		"a lost answer":   {func(d *double) { d.version, d.weights = "9", nil }, "9", ""},
		"another setting": {func(*double) {}, "9", ""},
		"another version": {func(d *double) { d.version, d.weights = "7", nil }, "7", "move the alias live of f: Precond"},
	} {
		d := &double{version: "8", versions: []string{"7", "8", "9"}, second: func(d *double) {
			d.revision++
			c.changed(d)
		}}
		err := releaser(d, 0).Shift(t.Context(), "f", "9", 10, 10*time.Minute)
		if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if d.version != c.want || len(d.weights) > 0 {
			t.Errorf("%s: the alias is at %s, %v", name, d.version, d.weights)
		}
	}
}

func TestAReleaseThatCannotBeginChangesNothing(t *testing.T) {
	for says, c := range map[string]struct {
		d       *double
		version string
		percent int
	}{
		"uses the version 9 already": {&double{version: "9",
			versions: []string{"9", "10"}}, "9", 10},
		"has no version 7; it has [9 10]": {&double{version: "9",
			versions: []string{"9", "10"}}, "7", 10},
		"1 to 99 percent of the calls, not 100": {&double{version: "9",
			versions: []string{"9", "10"}}, "10", 100},
		"version 10 of f has a part of the calls: wait": {&double{version: "9", weights: map[string]float64{"10": 0.1},
			versions: []string{"9", "10"}}, "10", 10},
		"move the alias live of f: busy": {&double{version: "9", versions: []string{"9", "10"},
			refuse: errors.New("busy")}, "10", 10},
	} {
		if err := releaser(c.d, 0).Shift(t.Context(), "f", c.version, c.percent, time.Minute); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want it to say %q", err, says)
		}
		if len(c.d.moves) > 0 {
			t.Errorf("%s: the alias went %v", says, c.d.moves)
		}
	}
}

func TestRollback(t *testing.T) {
	for name, c := range map[string]struct {
		d       *double
		version string
		want    string
		says    string
	}{
		"the one before, not by text": {&double{version: "10", versions: []string{"10", "2", "9"}}, "", "9", ""},
		"the one that is named":       {&double{version: "10", versions: []string{"2", "9", "10"}}, "2", "2", ""},
		"the end of a release": {&double{version: "9", weights: map[string]float64{"10": 0.1},
			versions: []string{"2", "9", "10"}}, "", "9", ""},
		"the first": {&double{version: "2", versions: []string{"2", "9"}}, "", "",
			"no version before 2"},
		"one that was deleted": {&double{version: "9", versions: []string{"8", "9"}}, "2", "", "no version 2"},
	} {
		got, err := releaser(c.d, 0).Rollback(t.Context(), "f", c.version)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || got != c.want || c.d.version != c.want || len(c.d.weights) > 0 {
			t.Errorf("%s: %s, %v; the alias is at %s, %v", name, got, err, c.d.version, c.d.weights)
		}
	}
}

func TestPruneKeepsWhatIsInUse(t *testing.T) {
	d := &double{version: "2", weights: map[string]float64{"3": 0.1}, versions: []string{"1", "2", "3", "4", "5", "6"}}
	deleted, err := releaser(d, 0).Prune(t.Context(), "f", 2)
	if err != nil || !slices.Equal(deleted, []string{"1", "4"}) ||
		!slices.Equal(d.versions, []string{"2", "3", "5", "6"}) {
		t.Errorf("deleted %v, %v; left %v", deleted, err, d.versions)
	}
}
