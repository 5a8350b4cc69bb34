// Package stored is the system's sealing secret as AWS Secrets Manager stores it. Its value also has the earlier
// versions, for as long as data may exist that they have sealed, however often the secret is rotated. Start with
// Secret; Value is a secret with its versions. Package rotation rotates it.
package stored

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

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
	return Cached(manager.Secret(cfg, arn), now)
}

// Cached returns the secret that a function reads, as Secret does.
func Cached(read func(context.Context) (string, error), now func() time.Time) seal.Secret {
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
