// Package awsapi calls services of AWS that speak JSON. A client of the SDK makes the schemas of all operations of its
// service whenever a program starts, even if it is never called. A Client costs nothing until it is.
package awsapi

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithytime "github.com/aws/smithy-go/time"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// mostAnswer is the most that is read of an answer. The largest ones have pictures.
const mostAnswer = 64 << 20

// Client calls one service. It is safe for concurrent use.
type Client struct {
	cfg     aws.Config
	base    string
	service string
	tools   func() tools
}

// tools are what calls are made with.
type tools struct {
	client  aws.HTTPClient
	retryer aws.Retryer
	signer  *v4.Signer
}

// New returns a client with the region, the credentials, the HTTP client, the retries and the endpoint of a
// configuration. Host is the first label of the service's address, and service its name in signatures.
func New(cfg aws.Config, host, service string) *Client {
	base := "https://" + host + "." + cfg.Region + ".amazonaws.com"
	if strings.HasPrefix(cfg.Region, "cn-") {
		base += ".cn"
	}
	if cfg.BaseEndpoint != nil {
		base = strings.TrimSuffix(*cfg.BaseEndpoint, "/")
	}
	return &Client{cfg: cfg, base: base, service: service, tools: sync.OnceValue(func() tools {
		t := tools{client: cfg.HTTPClient, signer: v4.NewSigner()}
		if t.client == nil {
			t.client = awshttp.NewBuildableClient()
		}
		if cfg.Retryer != nil {
			t.retryer = cfg.Retryer()
		} else {
			t.retryer = retry.NewStandard()
		}
		return t
	})}
}

// Call calls an operation of a service of the protocol AWS JSON 1.1, such as secretsmanager.GetSecretValue.
func (c *Client) Call(ctx context.Context, operation string, in, out any) error {
	return c.send(ctx, http.MethodPost, "/", http.Header{
		"Content-Type": {"application/x-amz-json-1.1"}, "X-Amz-Target": {operation}}, in, out)
}

// Answer is an answer that is no JSON. Out of Do may be one.
type Answer struct {
	Header  http.Header
	Content []byte
}

// Do calls an operation of a service of the protocol AWS REST JSON. The parts of the path are escaped. In is nil for a
// request without a body.
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	header := http.Header{}
	if _, is := out.(*Answer); !is {
		header.Set("Accept", "application/json")
	}
	if in != nil {
		header.Set("Content-Type", "application/json")
	}
	return c.send(ctx, method, path, header, in, out)
}

// send makes attempts until one succeeds, or the retryer permits no other.
func (c *Client) send(ctx context.Context, method, path string, header http.Header, in, out any) (err error) {
	var body []byte
	if in != nil {
		if body, err = json.Marshal(in); err != nil {
			return &smithy.SerializationError{Err: err}
		}
	}
	retryer := c.tools().retryer
	for n := 1; ; n++ {
		req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header = header.Clone()
		err = c.attempt(req, body, out)
		if err == nil || ctx.Err() != nil || n == retryer.MaxAttempts() || !retryer.IsErrorRetryable(err) {
			return err
		}
		if _, refused := retryer.GetRetryToken(ctx, err); refused != nil {
			return err
		}
		delay, refused := retryer.RetryDelay(n, err)
		if refused != nil || smithytime.SleepWithContext(ctx, delay) != nil {
			return err
		}
	}
}

func (c *Client) attempt(req *http.Request, body []byte, out any) error {
	ctx, t := req.Context(), c.tools()
	if c.cfg.Credentials == nil {
		return fmt.Errorf("awsapi: no credentials for %s", c.service)
	}
	credentials, err := c.cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return fmt.Errorf("awsapi: credentials: %w", err)
	}
	sum := sha256.Sum256(body)
	if err := t.signer.SignHTTP(ctx, credentials, req, hex.EncodeToString(sum[:]), c.service, c.cfg.Region,
		time.Now()); err != nil {
		return err
	}
	resp, err := t.client.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return &aws.RequestCanceledError{Err: err}
	case err != nil:
		return &smithyhttp.RequestSendError{Err: err}
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err == nil && out != nil && resp.StatusCode < http.StatusMultipleChoices {
		if plain, is := out.(*Answer); is {
			*plain = Answer{resp.Header, answer}
		} else {
			err = json.Unmarshal(answer, out)
		}
	}
	if err != nil {
		err = &smithy.DeserializationError{Err: err}
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		err = refusal(resp, answer)
	}
	if err != nil {
		return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: resp}, Err: err}
	}
	return nil
}

// refusal reads the error of an answer. The code is in the header or in the body, by the service.
func refusal(resp *http.Response, answer []byte) smithy.APIError {
	var body struct {
		Type    string `json:"__type"`
		Code    string `json:"code"`
		Message string `json:"message"` // or Message
	}
	_ = json.Unmarshal(answer, &body) // an answer of something between has only a status
	code := cmp.Or(resp.Header.Get("X-Amzn-Errortype"), body.Type, body.Code, "UnknownError")
	code, _, _ = strings.Cut(code, ":")
	return &smithy.GenericAPIError{Code: code[strings.LastIndex(code, "#")+1:], Message: body.Message}
}
