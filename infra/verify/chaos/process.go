package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// process is a function's process. Its handle stays that of this very process:
// none that gets its number later is ever meant.
type process struct {
	function string
	handle   *os.Process
}

// pid is its number; 0 where there is none.
func (p process) pid() int {
	if p.handle == nil {
		return 0
	}
	return p.handle.Pid
}

// kill ends it as a power cut would.
func (p process) kill() error { return p.handle.Signal(syscall.SIGKILL) }

// stop freezes it, and resume lets it go on as if no time had passed.
func (p process) stop() error   { return p.handle.Signal(syscall.SIGSTOP) }
func (p process) resume() error { return p.handle.Signal(syscall.SIGCONT) }

// processes finds the functions that one system runs: by the address at which
// they find AWS, which only that system's functions have in their environment.
type processes struct {
	endpoint string
	proc     string // where the kernel lists processes
}

// function returns the name of the function that a process runs; empty where it is
// none of the system's.
func (s processes) function(pid int) string {
	env, err := os.ReadFile(filepath.Join(s.proc, strconv.Itoa(pid), "environ"))
	if err != nil {
		return "" // ended meanwhile, or another user's
	}
	var name string
	ours := false
	for pair := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(pair, []byte("AWS_LAMBDA_FUNCTION_NAME=")); ok {
			name = string(value)
		}
		ours = ours || string(pair) == "AWS_ENDPOINT_URL="+s.endpoint
	}
	if !ours {
		return ""
	}
	// The functions of the stacks are named for customer, stage and function.
	parts := strings.SplitN(name, "-", 3)
	return parts[len(parts)-1]
}

// open returns a process by its number; false where it is none of the system's.
func (s processes) open(pid int) (process, bool) {
	handle, err := os.FindProcess(pid)
	if err != nil {
		return process{}, false
	}
	// Asked when the handle is there: the answer then is about the same process.
	if name := s.function(pid); name != "" {
		return process{name, handle}, true
	}
	_ = handle.Release()
	return process{}, false
}

// pids are the numbers of the processes that run the function.
func (s processes) pids(function string) []int {
	var all []int
	dirs, _ := filepath.Glob(filepath.Join(s.proc, "[0-9]*"))
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			if name := s.function(pid); name != "" && (function == "" || name == function) {
				all = append(all, pid)
			}
		}
	}
	return all
}

// behind returns the process at the other end of a connection to this one.
func (s processes) behind(conn net.Conn) (process, bool) {
	here, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return process{}, false
	}
	there, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return process{}, false
	}
	inode, err := s.inode(there.Port(), here.Port())
	if err != nil {
		return process{}, false
	}
	socket := "socket:[" + inode + "]"
	for _, pid := range s.pids("") {
		files, _ := filepath.Glob(filepath.Join(s.proc, strconv.Itoa(pid), "fd", "*"))
		if slices.ContainsFunc(files, func(name string) bool {
			target,
				_ := os.Readlink(name)
			return target == socket
		}) {
			return s.open(pid)
		}
	}
	return process{}, false
}

// inode is the number of the socket of a connection between two loopback ports,
// seen from the first one's end.
func (s processes) inode(from, to uint16) (string, error) {
	const local, remote, number = 1, 2, 9 // columns
	file, err := os.Open(filepath.Join(s.proc, "net", "tcp"))
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		columns := strings.Fields(lines.Text())
		if len(columns) > number && strings.HasSuffix(columns[local], fmt.Sprintf(":%04X", from)) &&
			strings.HasSuffix(columns[remote], fmt.Sprintf(":%04X", to)) {
			return columns[number], nil
		}
	}
	return "", fmt.Errorf("no connection from port %d to port %d", from, to)
}
