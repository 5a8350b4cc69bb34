package system

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestFakesKeepTheirPortWhileItIsFree(t *testing.T) {
	dir := t.TempDir()
	first, err := newFakes(t.Context(), dir, providerFakes)
	if err != nil {
		t.Fatal(err)
	}
	again, err := newFakes(t.Context(), dir, providerFakes)
	if err != nil || again.port != first.port {
		t.Errorf("the second time the port is %d, not %d: %v", again.port, first.port, err)
	}
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp",
		net.JoinHostPort("127.0.0.1", strconv.Itoa(first.port)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	other, err := newFakes(t.Context(), dir, providerFakes)
	if err != nil || other.port == first.port {
		t.Errorf("the port is %d, which is taken: %v", other.port, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "providers.port"), []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	if f, err := newFakes(t.Context(), dir, providerFakes); err != nil || f.port < 1 {
		t.Errorf("got %+v, %v", f, err)
	}
}

func TestStacksAreToldWhoGenerates(t *testing.T) {
	given := map[string]string{"logLevel": "debug"}
	fake := withFakes(given, "http://127.0.0.1:9000", "http://127.0.0.1:9001")
	if fake["providerEndpoint"] != "http://127.0.0.1:9000" || fake["providers"] != "" ||
		fake["platformEndpoint"] != "http://127.0.0.1:9001" || fake["logLevel"] != "debug" {
		t.Errorf("with fakes: %v", fake)
	}
	actual := withFakes(nil, "", "")
	if _, ok := actual["providerEndpoint"]; ok || actual["providers"] != "elevenlabs,fal,heygen,replicate" {
		t.Errorf("without fakes: %v", actual)
	}
	if chosen := withFakes(map[string]string{"providers": "fal"}, "", ""); chosen["providers"] != "fal" {
		t.Errorf("with a choice: %v", chosen)
	}
	if len(given) != 1 {
		t.Errorf("what was given is now %v", given)
	}
}

func TestFakesThatEndAreTold(t *testing.T) {
	dir := t.TempDir()
	f, err := newFakes(t.Context(), dir, providerFakes)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "providers")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\necho no luck today >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	err = f.startProviders(t.Context(), dir, "http://127.0.0.1:1", "us-east-1")
	if err == nil || !strings.Contains(err.Error(), "no luck today") {
		t.Errorf("got %v", err)
	}
	if f.process != nil {
		f.end(0)
	}
}
