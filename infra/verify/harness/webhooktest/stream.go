package webhooktest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// stream is the table's client, which keeps the documents that the relay would get from the table's stream: those of
// new tasks and of the outbox.
type stream struct {
	table interface {
		Do(*http.Request) (*http.Response, error)
	}
	mu   sync.Mutex
	docs []string
	// parked are the parked tasks whose messages were not sent.
	parked map[string]task.Task
}

type put struct {
	Item                map[string]events.DynamoDBAttributeValue
	ConditionExpression string
}

// Do makes a call of the table.
func (s *stream) Do(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	resp, err := s.table.Do(req)
	if err == nil && resp.StatusCode == http.StatusOK {
		s.follow(strings.TrimPrefix(req.Header.Get("X-Amz-Target"), "DynamoDB_20120810."), body)
	}
	return resp, err
}

// follow keeps the documents of a write.
func (s *stream) follow(operation string, body []byte) {
	var in struct {
		put
		TransactItems []struct{ Put put }
	}
	if operation != "PutItem" && operation != "TransactWriteItems" || json.Unmarshal(body, &in) != nil {
		return
	}
	puts := []put{in.put}
	for _, w := range in.TransactItems {
		puts = append(puts, w.Put)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range puts {
		it, err := store.FromRecord(p.Item)
		if err != nil || it.Kind != task.ItemKind && it.Kind != task.OutboxKind {
			continue
		}
		if strings.Contains(p.ConditionExpression, "attribute_not_exists") {
			s.docs = append(s.docs, string(it.Doc))
		}
		var t task.Task
		delete(s.parked, it.PK)
		if it.Decode(&t) == nil && t.Parked {
			s.parked[it.PK] = t
		}
	}
}

// take returns the documents since the last call.
func (s *stream) take() (docs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	docs, s.docs = s.docs, nil
	return docs
}

// first returns the parked task that is due first. Its Step is 0 if there is none.
func (s *stream) first() (first task.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.parked {
		if first.Step == 0 || t.DueAt.Before(first.DueAt) {
			first = t
		}
	}
	return first
}

// sent notes that the message of a parked task was sent.
func (s *stream) sent(t task.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.parked, t.ID)
}
