package cloud_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/seal/kmsseal"
)

const keyARN = "arn:aws:kms:eu-central-1:111122223333:key/1"

// service is KMS: it wraps keys by putting them behind their context.
type kmssealService struct {
	calls int
	// lost is how many answers get lost.
	lost int
	// asked is the input of the last call.
	asked input
}

type input struct {
	KeyId, KeySpec    string
	CiphertextBlob    []byte
	EncryptionContext map[string]string
}

var dataKey = bytes.Repeat([]byte("k"), 32)

func (s *kmssealService) Do(req *http.Request) (*http.Response, error) {
	s.calls++
	s.asked = input{}
	if err := json.NewDecoder(req.Body).Decode(&s.asked); err != nil {
		return nil, err
	}
	if s.calls <= s.lost {
		return nil, errors.New("connection reset")
	}
	prefix := s.asked.EncryptionContext["account"] + "/" + s.asked.EncryptionContext["purpose"] + "/"
	status, out := http.StatusOK, map[string]any{"KeyId": keyARN, "Plaintext": dataKey}
	switch _, operation, _ := strings.Cut(req.Header.Get("X-Amz-Target"), "."); {
	case operation == "GenerateDataKey":
		out["CiphertextBlob"] = append([]byte(prefix), dataKey...)
	case !bytes.HasPrefix(s.asked.CiphertextBlob, []byte(prefix)):
		status, out = http.StatusBadRequest, map[string]any{"__type": "InvalidCiphertextException"}
	}
	body, err := json.Marshal(out)
	return &http.Response{
		StatusCode: status, Request: req, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, err
}

func (s *kmssealService) config() aws.Config {
	return aws.Config{
		Region: "eu-central-1", HTTPClient: s,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		}),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = 3
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}
}

func TestDataKeysAreBoundToAccountAndPurpose(t *testing.T) {
	s := &kmssealService{}
	keys := kmsseal.New(s.config(), keyARN, "webhooks")
	key, wrapped, err := keys.Generate(t.Context(), "acc_1")
	if err != nil || !bytes.Equal(key, dataKey) {
		t.Fatalf("got %q, %q, %v", key, wrapped, err)
	}
	if s.asked.KeyId != keyARN || s.asked.KeySpec != "AES_256" || s.asked.EncryptionContext["account"] != "acc_1" ||
		s.asked.EncryptionContext["purpose"] != "webhooks" {
		t.Errorf("asked for %+v", s.asked)
	}
	if got, err := keys.Unwrap(t.Context(), "acc_1", wrapped); err != nil || !bytes.Equal(got, key) {
		t.Errorf("unwrapped %q, %v", got, err)
	}
	// The key is named, so that a sealed value of another account's key cannot be opened.
	if s.asked.KeyId != keyARN {
		t.Errorf("unwrapped with %q", s.asked.KeyId)
	}
	for name, unwrap := range map[string]func() ([]byte, error){
		"another account": func() ([]byte, error) { return keys.Unwrap(t.Context(), "acc_2", wrapped) },
		"another purpose": func() ([]byte, error) {
			return kmsseal.New(s.config(), keyARN, "tokens").Unwrap(t.Context(), "acc_1", wrapped)
		},
		"no key": func() ([]byte, error) { return keys.Unwrap(t.Context(), "acc_1", nil) },
	} {
		if got, err := unwrap(); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("%s: unwrapped %q, %v", name, got, err)
		}
	}
}

func TestLostAnswersAreAskedForAgain(t *testing.T) {
	s := &kmssealService{lost: 2}
	if _, _, err := kmsseal.New(s.config(), keyARN, "webhooks").Generate(t.Context(), "acc_1"); err != nil ||
		s.calls != 3 {
		t.Errorf("%d calls, %v", s.calls, err)
	}
	s = &kmssealService{lost: 100}
	envelope := seal.NewEnvelope(kmsseal.New(s.config(), keyARN, "webhooks"), time.Now)
	if _, err := envelope.Seal(t.Context(), "acc_1", []byte("data"),
		""); errs.CodeOf(err) != errs.ProviderUnavailable || s.calls != 3 {
		t.Errorf("%d calls, %v", s.calls, err)
	}
}
