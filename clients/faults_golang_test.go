package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	contentautomation "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/clients/internal/faults"
)

// outcome is what came of a call.
type outcome struct {
	data     any
	ids      []string
	err      error
	response contentautomation.Response
	pauses   []time.Duration
}

// TestGo runs the table by the Go client.
func TestGo(t *testing.T) {
	server := start(t)
	all, err := faults.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for _, fault := range check(s.Expect, play(s, server+"/s/go/"+s.Name)) {
				t.Error(fault)
			}
			for _, fault := range report(t, server, "go", s.Name) {
				t.Error(fault)
			}
		})
	}
}

// play makes the call of a scenario.
func play(s faults.Scenario, base string) (o outcome) {
	if s.Webhook != nil {
		return playWebhook(*s.Webhook)
	}
	key, now := faults.Key, time.Now()
	if s.Key != nil {
		key = *s.Key
	}
	if s.Base != nil {
		base = *s.Base
	}
	options := []contentautomation.Option{contentautomation.WithBaseURL(base + s.BaseSuffix),
		contentautomation.WithAPIKey(key), contentautomation.WithClock(func() time.Time { return now },
			func(_ context.Context, d time.Duration) error {
				now = now.Add(d)
				o.pauses = append(o.pauses, d)
				return nil
			})}
	if s.Retries != nil {
		options = append(options, contentautomation.WithMaxRetries(*s.Retries))
	}
	if s.TimeoutMS > 0 {
		options = append(options, contentautomation.WithTimeout(time.Duration(s.TimeoutMS)*time.Millisecond))
	}
	if s.Insecure {
		options = append(options, contentautomation.WithInsecure())
	}
	client, err := contentautomation.New(options...)
	if err != nil || s.Call.Mode == "client" {
		o.err = err
		return o
	}
	if s.Call.Mode == "print" {
		text := fmt.Sprintf("%v %+v %#v %s", client, client, client, reflect.ValueOf(client).Elem())
		if strings.Contains(text, key) {
			o.err = errors.New("it prints " + text)
		}
		return o
	}
	for range max(s.Call.Times, 1) {
		makeCall(s.Call, client, &o)
	}
	return o
}

// makeCall calls the method by its name.
func makeCall(c faults.Call, client *contentautomation.Client, o *outcome) {
	if c.Mode == "upload" {
		uploadFile(c, client, o)
		return
	}
	resource, name, _ := strings.Cut(c.Op, ".")
	if c.Mode == "wait" {
		name = "waitFor" + strings.TrimPrefix(name, "get")
	}
	method := reflect.ValueOf(client).Elem().FieldByName(title(resource)).MethodByName(title(name))
	args := []reflect.Value{reflect.ValueOf(context.Background())}
	for _, p := range c.Path {
		args = append(args, reflect.ValueOf(p))
	}
	for i := len(args); i < method.Type().NumIn()-1; i++ {
		arg := reflect.New(method.Type().In(i))
		if arg.Elem().Kind() == reflect.Pointer {
			arg.Elem().Set(reflect.New(arg.Type().Elem().Elem()))
			setParams(c, arg.Elem().Elem())
		} else {
			if c.Pad > 0 {
				c.Body["script"] = strings.Repeat("x", c.Pad)
			}
			body, _ := json.Marshal(c.Body)
			if o.err = json.Unmarshal(body, arg.Interface()); o.err != nil {
				return
			}
		}
		args = append(args, arg.Elem())
	}
	for _, option := range optionsOf(c, &o.response) {
		args = append(args, reflect.ValueOf(option))
	}
	results := method.Call(args)
	if c.Mode == "all" {
		readList(c, results[0], o)
		return
	}
	o.data = results[0].Interface()
	o.err, _ = results[1].Interface().(error)
}

// uploadFile uploads the file of a call: from memory, or as a stream of unknown length.
func uploadFile(c faults.Call, client *contentautomation.Client, o *outcome) {
	var file io.Reader = strings.NewReader(c.File)
	if c.Stream {
		file = io.MultiReader(file)
	}
	o.data, o.err = client.Media.Upload(context.Background(), file, contentautomation.OwnMediaCreateMimeTypeImagePng)
}

// readList reads a list to its end, or as far as the caller goes.
func readList(c faults.Call, list reflect.Value, o *outcome) {
	for item, err := range list.Seq2() {
		if o.err, _ = err.Interface().(error); o.err != nil {
			return
		}
		o.ids = append(o.ids, item.FieldByName("ID").String())
		if len(o.ids) == c.Take {
			return
		}
	}
}

// setParams sets the fields of parameters.
func setParams(c faults.Call, into reflect.Value) {
	for i := range into.NumField() {
		value, ok := c.Params[into.Type().Field(i).Tag.Get("query")]
		if ok {
			data, _ := json.Marshal(value)
			_ = json.Unmarshal(data, into.Field(i).Addr().Interface())
		}
	}
}

func optionsOf(c faults.Call, response *contentautomation.Response) []contentautomation.RequestOption {
	all := []contentautomation.RequestOption{contentautomation.WithResponse(response)}
	if c.IdempotencyKey != "" {
		all = append(all, contentautomation.WithIdempotencyKey(c.IdempotencyKey))
	}
	for name, value := range c.Headers {
		all = append(all, contentautomation.WithHeader(name, value))
	}
	if c.IfMatch != nil {
		if version, ok := c.IfMatch.(float64); ok {
			all = append(all, contentautomation.WithIfMatch(int64(version)))
		} else {
			all = append(all, contentautomation.WithIfMatch(c.IfMatch.(string)))
		}
	}
	if len(c.Until) > 0 {
		var states []contentautomation.ContentState
		for _, state := range c.Until {
			states = append(states, contentautomation.ContentState(state))
		}
		all = append(all, contentautomation.Until(states...))
	}
	if c.WaitMS > 0 {
		all = append(all, contentautomation.WaitAtMost(time.Duration(c.WaitMS)*time.Millisecond))
	}
	return all
}

func playWebhook(w faults.Webhook) (o outcome) {
	receiver, err := contentautomation.NewReceiver(w.Secrets...)
	if err != nil {
		o.err = err
		return o
	}
	receiver.Now = func() time.Time { return time.Unix(w.Now, 0) }
	header := http.Header{}
	for name, value := range w.Headers {
		header.Set(name, value)
	}
	o.data, o.err = receiver.Event(header, []byte(w.Body))
	return o
}

// title writes the name of a method as Go does.
func title(name string) string {
	return strings.NewReplacer("Api", "API", "Url", "URL").Replace(string(unicode.ToUpper(rune(name[0]))) + name[1:])
}

// check compares what came of a call with what was to come.
func check(e faults.Expect, o outcome) (wrong []string) {
	fault := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	switch got := kind(o.err); {
	case e.Error == nil && o.err != nil:
		fault("error: %v", o.err)
	case e.Error != nil && got.Kind != e.Error.Kind:
		fault("the error is %q (%v), want %q", got.Kind, o.err, e.Error.Kind)
	case e.Error != nil:
		wrong = append(wrong, compare(*e.Error, got)...)
		if !strings.Contains(o.err.Error(), e.Error.Says) {
			fault("the error says %v, want %s", o.err, e.Error.Says)
		}
	}
	if o.err != nil && strings.Contains(fmt.Sprintf("%v %+v", o.err, o.err), faults.Key) {
		fault("the error shows the key: %v", o.err)
	}
	data, _ := json.Marshal(o.data)
	var got map[string]any
	_ = json.Unmarshal(data, &got)
	for name, want := range e.Data {
		if !reflect.DeepEqual(got[name], want) {
			fault("%s is %v, want %v", name, got[name], want)
		}
	}
	for name, want := range e.Length {
		if text, _ := got[name].(string); len(text) != want {
			fault("%s has %d characters, want %d", name, len(text), want)
		}
	}
	if e.IDs != nil && !bytes.Equal(fmt.Append(nil, o.ids), fmt.Append(nil, e.IDs)) {
		fault("the list is %v, want %v", o.ids, e.IDs)
	}
	if e.Pauses != nil && len(o.pauses) != len(e.Pauses) {
		fault("there are the pauses %v, want %v", o.pauses, e.Pauses)
	}
	for i := range min(len(o.pauses), len(e.Pauses)) {
		if ms := o.pauses[i].Milliseconds(); ms < e.Pauses[i][0] || ms > e.Pauses[i][1] {
			fault("the pauses are %v, want %v", o.pauses, e.Pauses)
		}
	}
	if e.Replayed != nil && o.response.Replayed != *e.Replayed {
		fault("replayed is %v", o.response.Replayed)
	}
	if e.Attempts > 0 && e.Error == nil && o.response.Attempts != e.Attempts {
		fault("there were %d attempts, want %d", o.response.Attempts, e.Attempts)
	}
	return wrong
}

func compare(f faults.Failure, got faults.Failure) (wrong []string) {
	f.Says = "" // which is a part only
	want, have := reflect.ValueOf(f), reflect.ValueOf(got)
	for i := range want.NumField() {
		if a, b := want.Field(i), have.Field(i); !a.IsZero() && !reflect.DeepEqual(a.Interface(), b.Interface()) {
			wrong = append(wrong, fmt.Sprintf("%s of the error is %v, want %v", want.Type().Field(i).Name, b, a))
		}
	}
	return wrong
}

// kind describes an error as the table does.
func kind(err error) faults.Failure {
	var (
		api        *contentautomation.Error
		connection *contentautomation.ConnectionError
		failed     *contentautomation.FailedError
		upload     *contentautomation.UploadError
	)
	switch {
	case errors.As(err, &api):
		kinds := map[contentautomation.ErrorType]string{"invalid_request_error": "invalid_request",
			"authentication_error": "authentication", "payment_error": "payment", "permission_error": "permission",
			"conflict_error": "conflict", "rate_limit_error": "rate_limit", "api_error": "server"}
		f := faults.Failure{Kind: kinds[api.Type], Code: string(api.Code), Status: api.Status, RequestID: api.RequestID,
			Param: api.Param, RetryAfter: int(api.RetryAfter.Seconds())}
		if f.Kind == "" {
			f.Kind = "api"
		}
		if errors.Is(err, contentautomation.ErrNotFound) {
			f.Kind = "not_found"
		}
		if errors.Is(err, contentautomation.ErrConflict) != (f.Kind == "conflict") {
			f.Kind = "of an odd class"
		}
		for _, d := range api.Details {
			f.Details = append(f.Details, d.Param)
		}
		return f
	case contentautomation.IsTimeout(err) && !errors.As(err, &connection):
		return faults.Failure{Kind: "wait_timeout"}
	case errors.As(err, &connection) && connection.Timeout:
		return faults.Failure{Kind: "timeout"}
	case errors.As(err, &connection):
		return faults.Failure{Kind: "connection"}
	case errors.As(err, &failed):
		f := faults.Failure{Kind: "failed", State: failed.State}
		if failed.Failure != nil {
			f.Code = failed.Failure.Code
		}
		return f
	case errors.As(err, &upload):
		return faults.Failure{Kind: "upload", Status: upload.Status, Code: upload.Code}
	case is[*contentautomation.AnswerError](err):
		return faults.Failure{Kind: "answer"}
	case is[*contentautomation.ConfigError](err):
		return faults.Failure{Kind: "config"}
	case is[*contentautomation.SignatureError](err):
		return faults.Failure{Kind: "signature"}
	}
	return faults.Failure{Kind: "unknown"}
}

func is[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}
