package cloud_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"github.com/content-automation/api/pkg/cloud/seal/stored"
	"github.com/content-automation/api/pkg/cloud/seal/stored/rotation"
)

const arn = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:Seal"

// rotationManager is Secrets Manager with one secret.
type rotationManager struct {
	values map[string]string   // by version
	stages map[string][]string // by version
	puts   int
}

func (m *rotationManager) DescribeSecret(context.Context, *secretsmanager.DescribeSecretInput,
	...func(*secretsmanager.Options)) (*secretsmanager.DescribeSecretOutput, error) {
	return &secretsmanager.DescribeSecretOutput{VersionIdsToStages: maps.Clone(m.stages)}, nil
}

func (m *rotationManager) GetSecretValue(_ context.Context, in *secretsmanager.GetSecretValueInput,
	_ ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	for version, stages := range m.stages {
		if slices.Contains(stages, *in.VersionStage) && (in.VersionId == nil || *in.VersionId == version) {
			value, ok := m.values[version]
			if !ok {
				return nil, &types.ResourceNotFoundException{}
			}
			return &secretsmanager.GetSecretValueOutput{SecretString: &value}, nil
		}
	}
	return nil, &types.ResourceNotFoundException{}
}

func (m *rotationManager) PutSecretValue(_ context.Context, in *secretsmanager.PutSecretValueInput,
	_ ...func(*secretsmanager.Options)) (*secretsmanager.PutSecretValueOutput, error) {
	m.puts++
	m.values[*in.ClientRequestToken], m.stages[*in.ClientRequestToken] = *in.SecretString, in.VersionStages
	return &secretsmanager.PutSecretValueOutput{}, nil
}

func (m *rotationManager) UpdateSecretVersionStage(_ context.Context, in *secretsmanager.UpdateSecretVersionStageInput,
	_ ...func(*secretsmanager.Options)) (*secretsmanager.UpdateSecretVersionStageOutput, error) {
	if in.RemoveFromVersionId == nil || !slices.Contains(m.stages[*in.RemoveFromVersionId], *in.VersionStage) {
		return nil, errors.New("the stage is on another version")
	}
	m.stages[*in.RemoveFromVersionId], m.stages[*in.MoveToVersionId] = []string{"AWSPREVIOUS"},
		[]string{*in.VersionStage}
	return &secretsmanager.UpdateSecretVersionStageOutput{}, nil
}

// current returns the versions of the secret that functions read at a time.
func (m *rotationManager) current(t *testing.T, at time.Time) string {
	t.Helper()
	for version, stages := range m.stages {
		if slices.Contains(stages, "AWSCURRENT") {
			v, err := stored.Parse(m.values[version])
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, b := range v.Versions(at) {
				all = append(all, string(b))
			}
			return strings.Join(all, " ")
		}
	}
	return ""
}

type world struct {
	*rotationManager
	*rotation.Rotator
	now time.Time
}

func newWorld() *world {
	w := &world{rotationManager: &rotationManager{values: map[string]string{"v0": "first"},
		stages: map[string][]string{"v0": {"AWSCURRENT"}}}, now: time.Unix(1_000_000_000, 0).UTC()}
	n := 0
	w.Rotator = rotation.NewRotator(w.rotationManager, arn, func() time.Time { return w.now },
		func() string { n++; return "new" + strconv.Itoa(n) })
	return w
}

func (w *world) step(t *testing.T, name, token string) error {
	t.Helper()
	return w.Handle(t.Context(), rotation.Request{Step: name, SecretID: arn, Token: token})
}

var steps = []string{"createSecret", "setSecret", "testSecret", "finishSecret"}

func TestRotation(t *testing.T) {
	w := newWorld()
	for _, step := range steps {
		// Secrets Manager repeats a step whose answer it has lost.
		for range 2 {
			if err := w.step(t, step, "t1"); err != nil {
				t.Fatalf("%s: %v", step, err)
			}
		}
		if want := map[bool]string{true: "first new1", false: "first"}[step == "finishSecret"]; w.current(t,
			w.now) != want {
			t.Errorf("after %s: %s", step, w.current(t, w.now))
		}
	}
	if w.puts != 1 {
		t.Errorf("%d versions were made", w.puts)
	}
	w.now = w.now.Add(stored.Delay)
	if got := w.current(t, w.now); got != "new1 first" {
		t.Errorf("after the delay: %s", got)
	}
	// The stages of Secrets Manager would forget the first version now.
	for _, step := range steps {
		if err := w.step(t, step, "t2"); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}
	if got := w.current(t, w.now); got != "new1 new2 first" {
		t.Errorf("after the second rotation: %s", got)
	}
}

func TestARotationThatIsNotInOrder(t *testing.T) {
	w := newWorld()
	if err := w.step(t, "finishSecret", "t1"); err == nil || w.current(t, w.now) != "first" {
		t.Errorf("finished with a version that does not exist: %v", err)
	}
	if err := w.step(t, "encryptSecret", "t1"); err == nil {
		t.Error("took an unknown step")
	}
	if err := w.Handle(t.Context(), rotation.Request{Step: "createSecret", SecretID: arn + "2",
		Token: "t1"}); err == nil || w.puts != 0 {
		t.Errorf("rotated another secret: %v", err)
	}
	for _, step := range steps {
		if err := w.step(t, step, "t1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.step(t, "createSecret", "t2"); err == nil || w.puts != 1 {
		t.Errorf("rotated while the last rotation is not complete: %v", err)
	}
}

// Secrets Manager tests a new schedule by the step testSecret alone, with a version that it
// makes and removes. A version that stays does not stop the next rotation.
func TestAScheduleIsTestedWithoutARotation(t *testing.T) {
	for name, value := range map[string]*string{"no value": nil, "an empty value": new(string),
		"the current value": aws.String("first")} {
		w := newWorld()
		if value != nil {
			w.values["t1"], w.stages["t1"] = *value, []string{"AWSPENDING"}
		}
		if err := w.step(t, "testSecret", "t1"); err != nil || w.puts != 0 {
			t.Errorf("%s: %v, %d versions were made", name, err, w.puts)
		}
		if *cmp.Or(value, new(string)) == "" {
			if err := w.step(t, "finishSecret", "t1"); err == nil || w.current(t, w.now) != "first" {
				t.Errorf("%s became current: %v", name, err)
			}
			w.stages["t1"] = []string{"AWSPENDING"}
			for _, step := range steps {
				if err := w.step(t, step, "t1"); err != nil {
					t.Errorf("%s: the rotation after it: %s: %v", name, step, err)
				}
			}
			if got := w.current(t, w.now); got != "first new1" {
				t.Errorf("%s: after the rotation: %s", name, got)
			}
		}
	}
}

func TestAVersionThatWaitedTooLongIsNotUsed(t *testing.T) {
	w := newWorld()
	if err := w.step(t, "createSecret", "t1"); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(stored.Delay)
	if err := w.step(t, "testSecret", "t1"); err == nil || !strings.Contains(err.Error(), "rotate again") {
		t.Errorf("functions that do not know it yet would meet it: %v", err)
	}
	// Nor one made from a value that is no longer current.
	w = newWorld()
	if err := w.step(t, "createSecret", "t1"); err != nil {
		t.Fatal(err)
	}
	w.values["v0"] = "replaced by hand"
	if err := w.step(t, "testSecret", "t1"); err == nil {
		t.Error("the current version would be lost")
	}
}
