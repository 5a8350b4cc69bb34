// Package stored is the system's sealing secret as AWS Secrets Manager stores it. Its value also has the earlier
// versions, for as long as data may exist that they have sealed, however often the secret is rotated. Start with
// Rotator.Handle; Value is a secret with its versions.
package stored

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/secret"
	"github.com/content-automation/api/pkg/cloud/secret/manager"
)

const (
	// Delay is the time for which a new version is known before data is sealed with it, so that every function can open
	// that data: functions cache the value for secret.Lifetime.
	Delay = time.Hour
	// kept is the time for which a version opens data after it has last sealed data. Answers are remembered for 24
	// hours.
	kept = 25 * time.Hour
)

// Value is the value of the secret.
type Value struct {
	Secret string `json:"secret"`
	// From is the time from which data is sealed with Secret. Until then the first of Earlier seals. Nil means always.
	From *time.Time `json:"from,omitempty"`
	// Earlier has the versions before it, the latest first.
	Earlier []Version `json:"earlier,omitempty"`
}

// Version is a version of the secret that opens data until a time.
type Version struct {
	Secret string    `json:"secret"`
	Until  time.Time `json:"until"`
}

// Parse reads a value. A value that was never rotated is the secret itself, as CloudFormation has generated it.
func Parse(text string) (Value, error) {
	if text == "" {
		return Value{}, errors.New("stored: the sealing secret is empty")
	}
	var v Value
	if err := json.Unmarshal([]byte(text), &v); err != nil || v.Secret == "" {
		return Value{Secret: text}, nil
	}
	return v, nil
}

// Rotate returns the value with a new secret, with which data is sealed from now+Delay. It returns an error if data is
// not yet sealed with the current one.
func (v Value) Rotate(secret string, now time.Time) (Value, error) {
	if v.pending(now) {
		return Value{}, errors.New("stored: the last rotation is not complete before " + v.From.Format(time.RFC3339) +
			": rotate again after that")
	}
	from := now.Add(Delay).UTC()
	next := Value{Secret: secret, From: &from, Earlier: []Version{{v.Secret, from.Add(kept)}}}
	next.Earlier = append(next.Earlier, v.living(now)...)
	return next, nil
}

// Versions returns the versions that open data at a time, the one that seals first.
func (v Value) Versions(now time.Time) [][]byte {
	versions := [][]byte{[]byte(v.Secret)}
	for _, e := range v.living(now) {
		versions = append(versions, []byte(e.Secret))
	}
	if v.pending(now) && len(versions) > 1 {
		versions[0], versions[1] = versions[1], versions[0]
	}
	return versions
}

func (v Value) pending(now time.Time) bool { return v.From != nil && now.Before(*v.From) }

func (v Value) living(now time.Time) []Version {
	return slices.DeleteFunc(slices.Clone(v.Earlier), func(e Version) bool { return !now.Before(e.Until) })
}

// Secret returns the secret with that ARN. It is read when it is first needed, and cached.
func Secret(cfg aws.Config, arn string, now func() time.Time) seal.Secret {
	return cached(manager.Secret(cfg, arn), now)
}

func cached(read func(context.Context) (string, error), now func() time.Time) seal.Secret {
	values := secret.NewCache(read, Parse, now)
	return func(ctx context.Context) ([][]byte, error) {
		v, err := values.Get(ctx)
		if err != nil {
			return nil, errs.Wrap(err, errs.ProviderUnavailable, "The request cannot be carried out at the moment. "+
				"Repeat it with the same Idempotency-Key after a few seconds.")
		}
		return v.Versions(now()), nil
	}
}

// The stages of a version in Secrets Manager.
const (
	current = "AWSCURRENT"
	pending = "AWSPENDING"
)

// Request is the argument with which Secrets Manager calls the function.
type Request struct {
	Step string
	// SecretID is the ARN of the secret.
	SecretID string `json:"SecretId"`
	// Token is the id of the new version. A repeated step has the same token.
	Token string `json:"ClientRequestToken"`
}

// Client is Secrets Manager.
type Client interface {
	DescribeSecret(context.Context, *secretsmanager.DescribeSecretInput,
		...func(*secretsmanager.Options)) (*secretsmanager.DescribeSecretOutput, error)
	GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput,
		...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
	PutSecretValue(context.Context, *secretsmanager.PutSecretValueInput,
		...func(*secretsmanager.Options)) (*secretsmanager.PutSecretValueOutput, error)
	UpdateSecretVersionStage(context.Context, *secretsmanager.UpdateSecretVersionStageInput,
		...func(*secretsmanager.Options)) (*secretsmanager.UpdateSecretVersionStageOutput, error)
}

// Rotator rotates one secret. Its steps can be repeated.
type Rotator struct {
	client Client
	arn    string
	now    func() time.Time
	name   func() string
}

// NewRotator returns a rotator of the secret of that ARN. Each call of name returns a new secret.
func NewRotator(client Client, arn string, now func() time.Time, name func() string) *Rotator {
	return &Rotator{client, arn, now, name}
}

// Handle takes one step.
func (r *Rotator) Handle(ctx context.Context, q Request) error {
	if q.SecretID != r.arn || q.Token == "" {
		return fmt.Errorf("rotate: %q is not the sealing secret, or there is no token", q.SecretID)
	}
	switch q.Step {
	case "createSecret":
		return r.create(ctx, q)
	case "setSecret":
		return nil // no other system knows the secret
	case "testSecret":
		return r.test(ctx, q)
	case "finishSecret":
		return r.finish(ctx, q)
	default:
		return fmt.Errorf("rotate: there is no step %q", q.Step)
	}
}

// create stores the value with the new secret as a version that is not current yet.
func (r *Rotator) create(ctx context.Context, q Request) error {
	_, err := r.read(ctx, q.Token, pending)
	if !errors.Is(err, errEmpty) {
		return err // nil: an earlier call has created it
	}
	now, err := r.read(ctx, "", current)
	if err != nil {
		return err
	}
	next, err := now.Rotate(r.name(), r.now())
	if err != nil {
		return err
	}
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	value := string(text)
	_, err = r.client.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{
		SecretId: &r.arn, ClientRequestToken: &q.Token, SecretString: &value, VersionStages: []string{pending},
	})
	return err
}

// test checks that the new value opens sealed data, and that every function will have read it before data is sealed
// with it. Secrets Manager also takes this step alone, when the schedule changes, to see whether it can call the
// function: the version is then empty or equal to the current one, and Secrets Manager removes it.
func (r *Rotator) test(ctx context.Context, q Request) error {
	now, err := r.read(ctx, "", current)
	if err != nil {
		return err
	}
	next, err := r.read(ctx, q.Token, pending)
	if errors.Is(err, errEmpty) || err == nil && next.Secret == now.Secret {
		return nil
	}
	if err != nil {
		return err
	}
	knows := slices.ContainsFunc(next.Earlier, func(v Version) bool { return v.Secret == now.Secret })
	if !knows || next.From == nil || next.From.Before(r.now().Add(2*secret.Lifetime)) {
		return errors.New("rotate: the new version is out of date: cancel the rotation, and rotate again")
	}
	return nil
}

// finish makes the new version the current one.
func (r *Rotator) finish(ctx context.Context, q Request) error {
	out, err := r.client.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &r.arn})
	if err != nil {
		return err
	}
	stage := current
	in := &secretsmanager.UpdateSecretVersionStageInput{SecretId: &r.arn, VersionStage: &stage,
		MoveToVersionId: &q.Token}
	for version, stages := range out.VersionIdsToStages {
		if slices.Contains(stages, current) {
			in.RemoveFromVersionId = &version
		}
	}
	if in.RemoveFromVersionId != nil && *in.RemoveFromVersionId == q.Token {
		return nil // an earlier call has finished
	}
	// Without its value, no data could be opened.
	if _, err := r.read(ctx, q.Token, pending); err != nil {
		return err
	}
	_, err = r.client.UpdateSecretVersionStage(ctx, in)
	return err
}

// errEmpty is returned for a version that has no value.
var errEmpty = errors.New("rotate: the version of the secret has no value")

// read reads a version by its stage, and by its id unless that is empty.
func (r *Rotator) read(ctx context.Context, version, stage string) (Value, error) {
	in := &secretsmanager.GetSecretValueInput{SecretId: &r.arn, VersionStage: &stage}
	if version != "" {
		in.VersionId = &version
	}
	out, err := r.client.GetSecretValue(ctx, in)
	var missing *types.ResourceNotFoundException
	switch {
	case errors.As(err, &missing):
		return Value{}, errors.Join(errEmpty, err)
	case err != nil:
		return Value{}, err
	case aws.ToString(out.SecretString) == "":
		return Value{}, errEmpty
	}
	return Parse(*out.SecretString)
}
