package main

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/cloud/seal/sealtest"
	"github.com/content-automation/api/pkg/store/memtable"
	"github.com/content-automation/api/pkg/store/storetest"
)

// double stands in for DynamoDB, SQS and KMS where the function is what is measured: the
// local AWS takes some hundred times as long for a call as the function does.
type double struct {
	tables   *memtable.Engine
	listener net.Listener
	server   *http.Server

	mu   sync.Mutex
	sent []string // bodies of the messages that queues took
}

// stateTable is the name of the state table in the environment of functions.
const stateTable = "bench-state"

// latency is how long each answer takes at least, which is less than AWS needs. To
// an answer within microseconds the SDK has not ended the writing of the request
// yet: now and then it ends the connection for it, and asks again a second later.
const latency = time.Millisecond

func newDouble(ctx context.Context) (*double, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &double{tables: memtable.New(time.Now), listener: listener}
	d.server = &http.Server{Handler: d, ReadHeaderTimeout: startLimit}
	go func() { _ = d.server.Serve(listener) }() // returns ErrServerClosed
	if err := storetest.CreateTable(ctx, dynamodb.NewFromConfig(d.config()), stateTable); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close ends the server.
func (d *double) Close() error { return d.server.Close() }

func (d *double) address() string { return "http://" + d.listener.Addr().String() }

// config is that of a client in this process, which calls the double directly.
func (d *double) config() aws.Config {
	return aws.Config{Region: "eu-central-1", BaseEndpoint: aws.String(d.address()), Credentials: noCredentials, HTTPClient: d}
}

var noCredentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "bench", SecretAccessKey: "bench", SessionToken: "bench"}, nil
})

// ServeHTTP answers one call.
func (d *double) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	time.Sleep(latency)
	resp, err := d.Do(req)
	if err != nil {
		return // the caller has gone
	}
	maps.Copy(w.Header(), resp.Header)
	w.Header().Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body) // fails when the caller has gone
}

// Do answers one call of the JSON protocols.
func (d *double) Do(req *http.Request) (*http.Response, error) {
	service, operation, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	switch service {
	case "AmazonSQS":
		return d.queue(req, operation)
	case "TrentService":
		return unwrap(req)
	default:
		return d.tables.Do(req)
	}
}

// queue answers a call of SQS.
func (d *double) queue(req *http.Request, operation string) (*http.Response, error) {
	var in struct {
		Entries []struct{ Id, MessageBody string }
	}
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
		return nil, err
	}
	done := make([]map[string]string, len(in.Entries))
	for i, e := range in.Entries {
		sum := md5.Sum([]byte(e.MessageBody))
		done[i] = map[string]string{"Id": e.Id, "MessageId": "m", "MD5OfMessageBody": hex.EncodeToString(sum[:])}
		// The other operation hides messages: the feed hands out each of them once.
		if operation == "SendMessageBatch" {
			d.mu.Lock()
			d.sent = append(d.sent, e.MessageBody)
			d.mu.Unlock()
		}
	}
	return answer(req, map[string]any{"Successful": done, "Failed": []string{}})
}

// unwrap answers a call of KMS, which opens a data key.
func unwrap(req *http.Request) (*http.Response, error) {
	var in struct {
		CiphertextBlob    []byte
		EncryptionContext map[string]string
	}
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
		return nil, err
	}
	key, err := sealtest.Keys(sealSecret).Unwrap(req.Context(), in.EncryptionContext["account"], in.CiphertextBlob)
	if err != nil {
		return nil, err
	}
	return answer(req, map[string]any{"Plaintext": key})
}

func answer(req *http.Request, out any) (*http.Response, error) {
	body, err := json.Marshal(out)
	return &http.Response{
		StatusCode: http.StatusOK, Request: req, Header: http.Header{"Content-Type": {req.Header.Get("Content-Type")}},
		Body: io.NopCloser(strings.NewReader(string(body))), ContentLength: int64(len(body)),
	}, err
}

// take returns the messages that were sent, and forgets them.
func (d *double) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.sent
	d.sent = nil
	return all
}

// delivered counts the deliveries that were recorded as delivered.
func (d *double) delivered() int {
	keys := map[string]bool{}
	for _, c := range d.tables.Changes(stateTable, 0) {
		text := func(name string) string {
			s, _ := c.New[name].(*types.AttributeValueMemberS)
			if s == nil {
				return ""
			}
			return s.Value
		}
		if text("f_state") == "delivered" {
			keys[text("pk")+text("sk")] = true
		}
	}
	return len(keys)
}
