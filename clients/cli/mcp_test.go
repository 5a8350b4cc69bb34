package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
)

func TestAnAgentIsServedOnThisMachine(t *testing.T) {
	key, err := auth.NewKey(tenant.Test, strings.NewReader(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key || r.URL.Path != "/v1/factories" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprint(w, `{"data":[{"id":"fac_1","name":"Acme"}],"next_cursor":null,"error":null,"request_id":"r"}`)
	}))
	t.Cleanup(api.Close)
	fromAgent, toServer := io.Pipe()
	fromServer, toAgent := io.Pipe()
	var notes bytes.Buffer
	w := machine{out: toAgent, notes: &notes, now: time.Now, getenv: func(name string) string {
		return map[string]string{"SVC_API_KEY": key, "BASE_URL": api.URL}[name]
	}}
	cmd := root(w)
	cmd.SetArgs([]string{"mcp"})
	cmd.SetIn(fromAgent)
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(t.Context()) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "scripted", Version: "1"}, nil).Connect(t.Context(),
		&sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_factories"})
	if err != nil || result.IsError || !strings.Contains(result.Content[0].(*sdk.TextContent).Text, "Acme") {
		t.Errorf("%+v, %v", result, err)
	}
	_ = session.Close()
	if err := <-ended; err != nil {
		t.Errorf("%v: %s", err, &notes)
	}
}

func TestAnAgentNeedsAKey(t *testing.T) {
	if code, _, notes := play(map[string]string{"BASE_URL": "http://127.0.0.1:1"}, "mcp"); code != 2 ||
		!strings.Contains(notes, "SVC_API_KEY") {
		t.Errorf("%d: %s", code, notes)
	}
}
