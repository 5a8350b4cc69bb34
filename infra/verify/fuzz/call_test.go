package fuzz

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/measure/metered"
)

// call is one request.
type call struct {
	op     *operation
	method string
	ids    []string // of the path, as they are in its text
	query  url.Values
	header map[string]string
	// sent reports whether there is a body. The tree is its value until the value is written to body as text.
	sent bool
	tree any
	body []byte
	live bool
	// encoded reports whether the body is sent in base64, as the gateway may.
	encoded bool
}

// newCall returns a call as the service expects it.
func newCall(op *operation, r metered.Request) (*call, error) {
	c := &call{op: op, method: op.Method, query: url.Values{}, header: maps.Clone(r.Header), live: r.Live}
	if c.header == nil {
		c.header = map[string]string{}
	}
	c.ids = []string{r.ID, r.Part}[:strings.Count(op.Path, "{")]
	for name, value := range r.Query {
		c.query.Set(name, value)
	}
	if r.Body == nil {
		return c, nil
	}
	text, err := json.Marshal(r.Body)
	if err != nil {
		return nil, err
	}
	c.sent = true
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return c, d.Decode(&c.tree)
}

// finish writes the body.
func (c *call) finish() {
	if c.sent && c.body == nil {
		var b bytes.Buffer
		write(&b, c.tree)
		c.body = b.Bytes()
	}
}

// event changes the event of an ordinary request to that of the call.
func (c *call) event(e *events.APIGatewayProxyRequest) {
	e.HTTPMethod, e.Path, e.RequestContext.HTTPMethod = c.method, c.path(), c.method
	e.MultiValueQueryStringParameters = c.query
	delete(e.Headers, "Content-Type")
	e.Body = ""
	if c.sent {
		e.Headers["Content-Type"], e.Body = "application/json", string(c.body)
	}
	if c.encoded {
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(c.body), true
	}
	maps.Copy(e.Headers, c.header)
}

// path returns the path, with its ids.
func (c *call) path() string {
	at, n := strings.Split(c.op.Path, "/"), 0
	for i, segment := range at {
		if strings.HasPrefix(segment, "{") {
			at[i] = c.ids[n]
			n++
		}
	}
	return strings.Join(at, "/")
}

// longestShown bounds the parts of a request that is shown.
const longestShown = 2000

// String shows the call as a command line.
func (c *call) String() string {
	shown := func(text string) string {
		if len(text) > longestShown {
			text = text[:longestShown] + fmt.Sprintf("…(%d bytes)", len(text))
		}
		if quoted := strconv.Quote(text); strings.ContainsFunc(text,
			func(r rune) bool { return r < ' ' || r == '\'' || r > 126 }) {
			return "$'" + strings.ReplaceAll(quoted[1:len(quoted)-1], "'", `\'`) + "'"
		}
		return "'" + text + "'"
	}
	key := "$SVC_TEST_KEY"
	if c.live {
		key = "$SVC_LIVE_KEY"
	}
	address := c.path()
	if len(c.query) > 0 {
		address += "?" + c.query.Encode()
	}
	line := "curl -X " + c.method + " \"$BASE_URL\"" + shown(address) + " -H \"Authorization: Bearer " + key + "\""
	for _, name := range slices.Sorted(maps.Keys(c.header)) {
		line += " -H " + shown(name+": "+c.header[name])
	}
	if c.sent {
		line += " --data-binary " + shown(string(c.body))
	}
	return line
}

// put changes the value to which a way leads.
func put(tree any, way []step, change func(parent object, name string, v any) any) any {
	if len(way) == 0 {
		return change(nil, "", tree)
	}
	next := way[0]
	switch v := tree.(type) {
	case object:
		if next.name == "*" {
			next.name = "campaign"
		}
		if next.name == "|" {
			return put(tree, way[1:], change)
		}
		at := way[1:]
		for len(at) > 0 && at[0].name == "|" {
			at = at[1:]
		}
		if len(at) > 0 {
			v[next.name] = put(v[next.name], at, change)
			return v
		}
		changed := change(v, next.name, v[next.name])
		if _, is := changed.(twice); is {
			return changed
		}
		if changed != gone {
			v[next.name] = changed
		}
		return v
	case []any:
		if next.name == "[]" && len(v) > 0 {
			v[0] = put(v[0], way[1:], change)
		}
		return v
	}
	if next.name == "|" {
		return put(tree, way[1:], change)
	}
	return tree
}

// gone marks a member that was removed.
var gone any = new(int)
