// Package rotation rotates the system's sealing secret in AWS Secrets Manager. Start with Rotator.Handle.
package rotation

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

	"github.com/content-automation/api/pkg/cloud/seal/stored"
	"github.com/content-automation/api/pkg/cloud/secret"
)

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
	knows := slices.ContainsFunc(next.Earlier, func(v stored.Version) bool { return v.Secret == now.Secret })
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
func (r *Rotator) read(ctx context.Context, version, stage string) (stored.Value, error) {
	in := &secretsmanager.GetSecretValueInput{SecretId: &r.arn, VersionStage: &stage}
	if version != "" {
		in.VersionId = &version
	}
	out, err := r.client.GetSecretValue(ctx, in)
	var missing *types.ResourceNotFoundException
	switch {
	case errors.As(err, &missing):
		return stored.Value{}, errors.Join(errEmpty, err)
	case err != nil:
		return stored.Value{}, err
	case aws.ToString(out.SecretString) == "":
		return stored.Value{}, errEmpty
	}
	return stored.Parse(*out.SecretString)
}
