package system

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAUsedPortIsNamed(t *testing.T) {
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	port := taken.Addr().(*net.TCPAddr).Port
	_, err = Start(t.Context(), Options{Dir: t.TempDir(), Port: port})
	var used *PortError
	if !errors.As(err, &used) || used.Port != port || !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("got %v", err)
	}
}

func TestAFolderIsForOneSystem(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "state", "old")
	if err := os.MkdirAll(old, 0o755); err != nil {
		t.Fatal(err)
	}
	release, err := claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("an earlier system's state is still there: %v", err)
	}
	if _, err := claim(dir); err == nil || !strings.Contains(err.Error(), "another local system runs in "+dir) {
		t.Errorf("got %v", err)
	}
	release()
	release, err = claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	release()
}

func TestTheCheckoutIsFoundFromWithin(t *testing.T) {
	root, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "infra", "local", "system", "system.go")); err != nil {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if root, err := checkout(); err == nil {
		t.Errorf("%s is taken for a checkout", root)
	}
}

func TestContextValues(t *testing.T) {
	root := module(t, map[string]string{
		"cdk.json": `{"context": {"customers": {"local": {}}, "flag": true, "arch": "arm64"}}`})
	d := deployment{root: root, region: "eu-west-1", target: Target{"linux", "amd64"},
		context: map[string]string{"logLevel": "debug"}}
	text, err := d.contextValues()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"customer": "local", "region": "eu-west-1", "arch": "x86_64", "assets": filepath.Join(root, "build", "x86_64"),
		"flag": true, "logLevel": "debug",
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}

func TestPruneKeepsWhatIsUsed(t *testing.T) {
	dir := module(t, map[string]string{
		"cdk.out/x.assets.json": `{"files": {"aaaa": {}}}`, "cdk.out/.cache/aaaa.zip": "",
		"cdk.out/.cache/bbbb.zip": "",
	})
	if err := (deployment{dir: dir}).prune(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "cdk.out", ".cache", "*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != "aaaa.zip" {
		t.Errorf("left are %v, %v", left, err)
	}
}
