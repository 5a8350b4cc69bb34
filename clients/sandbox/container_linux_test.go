package main

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The instructions of the Dockerfile, by what they are needed for.
func TestTheDockerfile(t *testing.T) {
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(string(text), "\\\n", ""), "\n")
	_, last, found := strings.Cut(strings.Join(lines, "\n"), "\nFROM scratch\n")
	if !found {
		t.Fatal("the image has more than the binary")
	}
	for name, want := range map[string]string{
		"it has the binary, the certificates and /tmp": "COPY --from=build /image/ /",
		"temporary files have a place":                 "WORKDIR /tmp",
		"it does not run as root":                      "USER 65532:65532",
		"the port can be reached from outside":         "ENV SANDBOX_LISTEN=0.0.0.0",
		"the port":                                     "EXPOSE 8080",
		"flags can be passed":                          `ENTRYPOINT ["/sandbox"]`,
	} {
		if !strings.Contains(last, want+"\n") {
			t.Errorf("%s: the image lacks %s", name, want)
		}
	}
	for _, want := range []string{"CGO_ENABLED=0 go build -trimpath -ldflags=\"-s -w\" -o /image/sandbox ./clients/sandbox",
		"mkdir -p -m 1777 /image/tmp", "/image/etc/ssl/certs/ca-certificates.crt"} {
		if !strings.Contains(strings.Join(lines, "\n"), want) {
			t.Errorf("the build lacks %s", want)
		}
	}
	module, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(string(module), "\ngo ")
	version = version[:strings.LastIndex(version[:strings.Index(version, "\n")], ".")]
	if !strings.Contains(string(text), "FROM golang:"+version+" AS build\n") {
		t.Errorf("the build does not use Go %s, as go.mod says", version)
	}
}

// The binary runs where nothing else is, as another user than root, as in its image.
func TestTheProgramNeedsNothingElse(t *testing.T) {
	root := t.TempDir()
	content, err := os.ReadFile(built(t))
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "sandbox"), content, 0o755)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(root, "tmp"), 0o700)
	}
	for _, dir := range []string{root, filepath.Join(root, "tmp")} {
		if err == nil {
			err = os.Chmod(dir, 0o1777)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	cmd := exec.Command("/sandbox", "--port", port)
	cmd.Dir, cmd.Env = "/tmp", []string{}
	// Without the rights to change the root, the program is the root of a namespace of its own.
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65532, Gid: 65532}
	} else {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	var notes strings.Builder
	cmd.Stderr = &notes
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, cmd: cmd}
	defer b.stop()
	lines := bufio.NewScanner(out)
	for _, value := range []*string{&b.URL, &b.Account, &b.greeting.Test, &b.Live} {
		if !lines.Scan() {
			t.Fatal(notes.String())
		}
		_, *value, _ = strings.Cut(lines.Text(), "=")
	}
	factory := b.call(http.StatusCreated, "POST", "/v1/factories", object{"type": "brand", "name": "Sea",
		"settings": object{"brand_name": "Acme"}, "schedule": object{"timezone": "Europe/Berlin", "times": []string{"09:00"}}})["id"]
	item := b.call(http.StatusAccepted, "POST", items, object{"factory_id": factory, "kind": "story",
		"prompt": "nets"})["id"].(string)
	for {
		got := b.call(http.StatusOK, "GET", items+"/"+item, nil)
		if got["state"] == "generated" {
			break
		}
		if got["state"] != "queued" && got["state"] != "generating" {
			t.Fatalf("the item is %v, %s", got, &notes)
		}
		select {
		case <-t.Context().Done():
			t.Fatal("the test ends before the item does")
		case <-time.After(100 * time.Millisecond):
		}
	}
	b.stop()
	if left, err := os.ReadDir(filepath.Join(root, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
