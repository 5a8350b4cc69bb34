package system

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// engineTools has AWS's own database engine, DynamoDB Local.
var engineTools = []Set{{"dynamodb", "DynamoDB Local (Maven)", "dynamodb", []string{"pom.xml", "Engine.java"},
	installMaven}}

// engineNeeds are the programs that the engine needs.
var engineNeeds = []need{
	{"java", []string{"--version"}, 17, 0, "the database engine runs on it; get a JDK from https://adoptium.net"},
	{"javac", []string{"--version"}, 17, 0, "it compiles the start of the database engine; get a JDK from " +
		"https://adoptium.net"},
	{"mvn", []string{"--version"}, 3, 6, "it installs the database engine; get it from https://maven.apache.org"},
}

// CheckEngine returns an error with the reason if DynamoDB Local cannot run on this machine.
func CheckEngine(ctx context.Context) error {
	if runtime.GOARCH != "amd64" {
		return fmt.Errorf("its library is not available for %s", runtime.GOARCH)
	}
	for _, n := range engineNeeds {
		if err := n.check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// installMaven downloads the jars of a pom.xml, and compiles the class that starts them.
func installMaven(ctx context.Context, pins, dir, log string) error {
	lib := filepath.Join(dir, "lib")
	// Maven refuses a file if its checksum differs from the repository's.
	err := run(ctx, dir, log, withTools(), "mvn", "--batch-mode", "--quiet", "--strict-checksums",
		"--file", filepath.Join(pins, "pom.xml"), "dependency:copy-dependencies", "-DoutputDirectory="+lib)
	if err != nil {
		return err
	}
	return run(ctx, dir, log, withTools(), "javac", "-cp", filepath.Join(lib, "*"), "-d", dir,
		filepath.Join(pins, "Engine.java"))
}

// Engine is a running DynamoDB Local. Its tables are in memory.
type Engine struct {
	// Address is the URL of the engine, on the loopback address.
	Address string
	cmd     *exec.Cmd
	stdin   io.Closer
}

// engineStart bounds the start of the engine. It takes two seconds, or more on a busy machine.
const engineStart = 2 * time.Minute

// StartEngine installs DynamoDB Local and starts it.
func StartEngine(ctx context.Context, root string, say func(string)) (*Engine, error) {
	if err := Install(ctx, root, say, engineTools); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Join(root, toolsDir, "dynamodb"))
	if err != nil {
		return nil, err
	}
	lib := filepath.Join(dir, "lib")
	// A serial collector and the quick compiler leave the other processors to the tests.
	cmd := exec.Command("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.library.path="+lib,
		"-cp", dir+string(filepath.ListSeparator)+filepath.Join(lib, "*"), "Engine")
	cmd.Env, cmd.SysProcAttr = environment(nil), ownGroup()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	log, err := os.CreateTemp("", "engine-*.log")
	if err != nil {
		return nil, err
	}
	defer func() { _, _ = log.Close(), os.Remove(log.Name()) }()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	e := &Engine{cmd: cmd, stdin: stdin}
	if e.Address, err = firstLine(ctx, stdout); err != nil {
		e.Stop()
		return nil, logged(err, "starting DynamoDB Local", log.Name())
	}
	return e, nil
}

// firstLine returns the line that the engine prints when it is ready.
func firstLine(ctx context.Context, r io.Reader) (string, error) {
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(r).ReadString('\n')
		lines <- strings.TrimSpace(line)
	}()
	late := time.NewTimer(engineStart)
	defer late.Stop()
	select {
	case line := <-lines:
		if line == "" {
			return "", errors.New("it has ended")
		}
		return line, nil
	case <-late.C:
		return "", fmt.Errorf("it did not answer within %v", engineStart)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Stop ends the engine and waits until it has ended.
func (e *Engine) Stop() {
	_ = e.stdin.Close()
	late := time.AfterFunc(grace, func() { _ = e.cmd.Process.Kill() })
	defer late.Stop()
	_ = e.cmd.Wait()
}
