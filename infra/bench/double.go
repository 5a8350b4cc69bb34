package main

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// double stands in for DynamoDB and SQS where the function is what is measured:
// the local AWS takes some hundred times as long for a call as the function does.
// It knows the calls of the path of deliveries, and only the conditions that they
// make; it refuses everything else.
type double struct {
	listener net.Listener
	server   *http.Server

	mu    sync.Mutex
	items map[itemKey]*storedItem
	plans map[string]*plan // of statements, by their text
	sent  []string         // bodies of the messages that queues took
}

// latency is how long each answer takes at least, which is less than AWS needs. To
// an answer within microseconds the SDK has not ended the writing of the request
// yet: now and then it ends the connection for it, and asks again a second later.
const latency = time.Millisecond

type itemKey struct{ pk, sk string }

// storedItem is an item, and its version, which conditions ask for.
type storedItem struct {
	// raw is the item as it came; nil where statements have changed it since.
	raw        json.RawMessage
	attributes map[string]json.RawMessage
	version    string
}

// text gives the item as JSON.
func (it *storedItem) text() json.RawMessage {
	if it.raw == nil {
		it.raw, _ = json.Marshal(it.attributes) // which came as JSON
	}
	return it.raw
}

// value is an attribute: a text or a number.
type value struct{ S, N string }

// keyed has the attributes of an item that the double itself looks at.
type keyed struct {
	PK      value `json:"pk"`
	SK      value `json:"sk"`
	Version value `json:"ver"`
}

func (a keyed) key() itemKey { return itemKey{a.PK.S, a.SK.S} }

func newDouble(ctx context.Context) (*double, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &double{listener: listener, items: map[itemKey]*storedItem{}, plans: map[string]*plan{}}
	d.server = &http.Server{Handler: d, ReadHeaderTimeout: startLimit}
	go func() { _ = d.server.Serve(listener) }() // gives ErrServerClosed, when closed
	return d, nil
}

// Close ends the server.
func (d *double) Close() error { return d.server.Close() }

func (d *double) address() string { return "http://" + d.listener.Addr().String() }

// config is that of a client in this process, which calls the double directly.
func (d *double) config() aws.Config {
	return aws.Config{Region: "eu-central-1", BaseEndpoint: aws.String(d.address()), Credentials: noCredentials, HTTPClient: direct{d}}
}

// direct calls the double without a connection.
type direct struct{ double *double }

// Do answers a call.
func (c direct) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	c.double.respond(w, req.Header, body)
	return w.Result(), nil
}

var noCredentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "bench", SecretAccessKey: "bench", SessionToken: "bench"}, nil
})

// ServeHTTP answers one call of the JSON 1.0 protocol.
func (d *double) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the caller has gone
	}
	time.Sleep(latency)
	d.respond(w, req.Header, body)
}

func (d *double) respond(w http.ResponseWriter, header http.Header, body []byte) {
	_, operation, _ := strings.Cut(header.Get("X-Amz-Target"), ".")
	out, err := d.answer(operation, body)
	status := http.StatusOK
	if err != nil {
		refused, known := err.(*refusal)
		if !known {
			refused = &refusal{Type: "ValidationException", Message: err.Error()}
		}
		status, out = http.StatusBadRequest, refused
	}
	body, err = json.Marshal(out)
	if err != nil {
		status, body = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	// The SDK takes an answer without its checksum for a broken one, and asks again.
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails when the caller has gone
}

// refusal is the answer to a call that is not carried out.
type refusal struct {
	Type    string          `json:"__type"`
	Message string          `json:"message"`
	Item    json.RawMessage `json:",omitempty"`
}

// Error gives the message.
func (r *refusal) Error() string { return r.Message }

func (d *double) answer(operation string, body []byte) (any, error) {
	switch operation {
	case "PutItem":
		return answered(body, d.putItem)
	case "GetItem":
		return answered(body, d.getItem)
	case "BatchGetItem":
		return answered(body, d.batchGetItem)
	case "BatchExecuteStatement":
		return answered(body, d.executeStatements)
	case "UpdateItem": // of a receiver that is slow for once
		return struct{}{}, nil
	case "Query":
		return answered(body, d.query)
	case "SendMessageBatch":
		return answered(body, d.sendMessages)
	case "ChangeMessageVisibilityBatch":
		return answered(body, d.hideMessages)
	default:
		return nil, fmt.Errorf("the double does not know the operation %q", operation)
	}
}

func answered[In any](body []byte, f func(In) (any, error)) (any, error) {
	var in In
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	return f(in)
}

type putInput struct {
	Item                      json.RawMessage
	ConditionExpression       string
	ExpressionAttributeValues map[string]value
}

func (d *double) putItem(in putInput) (any, error) {
	var a keyed
	if err := json.Unmarshal(in.Item, &a); err != nil {
		return nil, err
	}
	made := &storedItem{raw: in.Item, version: a.Version.N}
	if err := json.Unmarshal(in.Item, &made.attributes); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	stored, there := d.items[a.key()]
	var holds bool
	switch {
	case strings.HasPrefix(in.ConditionExpression, "attribute_not_exists(#pk)"):
		holds = !there
	case in.ConditionExpression == "#v = :v":
		holds = there && stored.version == in.ExpressionAttributeValues[":v"].N
	default:
		return nil, fmt.Errorf("the double does not know the condition %q", in.ConditionExpression)
	}
	if !holds {
		return nil, &refusal{Type: "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", Message: "The conditional request failed", Item: stored.text()}
	}
	d.items[a.key()] = made
	return struct{}{}, nil
}

type getInput struct{ Key keyed }

func (d *double) getItem(in getInput) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string]json.RawMessage{}
	if stored, there := d.items[in.Key.key()]; there {
		out["Item"] = stored.text()
	}
	return out, nil
}

type batchGetInput struct {
	RequestItems map[string]struct{ Keys []keyed }
}

func (d *double) batchGetItem(in batchGetInput) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := map[string][]json.RawMessage{}
	for table, asked := range in.RequestItems {
		found[table] = []json.RawMessage{}
		for _, k := range asked.Keys {
			if stored, there := d.items[k.key()]; there {
				found[table] = append(found[table], stored.text())
			}
		}
	}
	return map[string]any{"Responses": found, "UnprocessedKeys": struct{}{}}, nil
}

type queryInput struct {
	ExpressionAttributeValues map[string]value
}

// query gives the whole partition.
func (d *double) query(in queryInput) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := []json.RawMessage{}
	for key, stored := range d.items {
		if key.pk == in.ExpressionAttributeValues[":p"].S {
			found = append(found, stored.text())
		}
	}
	return map[string]any{"Items": found, "Count": len(found), "ScannedCount": len(found)}, nil
}

type sendInput struct {
	Entries []struct{ Id, MessageBody string }
}

func (d *double) sendMessages(in sendInput) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := []map[string]string{}
	for _, e := range in.Entries {
		d.sent = append(d.sent, e.MessageBody)
		sum := md5.Sum([]byte(e.MessageBody))
		taken = append(taken, map[string]string{"Id": e.Id, "MessageId": "m", "MD5OfMessageBody": hex.EncodeToString(sum[:])})
	}
	return map[string]any{"Successful": taken, "Failed": []string{}}, nil
}

type hideInput struct {
	Entries []struct{ Id, ReceiptHandle string }
}

// hideMessages hides nothing: the feed hands each message out once.
func (d *double) hideMessages(in hideInput) (any, error) {
	hidden := make([]map[string]string, len(in.Entries))
	for i, e := range in.Entries {
		hidden[i] = map[string]string{"Id": e.Id}
	}
	return map[string]any{"Successful": hidden, "Failed": []string{}}, nil
}

// take gives the messages that were sent, and forgets them.
func (d *double) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.sent
	d.sent = nil
	return all
}

// partition gives the items of a partition, in no order.
func (d *double) partition(prefix string) []json.RawMessage {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []json.RawMessage
	for _, key := range slices.Collect(maps.Keys(d.items)) {
		if strings.HasPrefix(key.pk, prefix) {
			all = append(all, d.items[key].text())
		}
	}
	return all
}
