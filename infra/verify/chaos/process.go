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

// process is the process of a function. Its handle refers to this process even if a later process gets the same
// number.
type process struct {
	function string
	handle   *os.Process
}

// pid returns the number of the process, or 0 if there is no process.
func (p process) pid() int {
	if p.handle == nil {
		return 0
	}
	return p.handle.Pid
}

// kill ends the process as a power cut would.
func (p process) kill() error { return p.handle.Signal(syscall.SIGKILL) }

// stop freezes the process, and resume continues it as if no time had passed.
func (p process) stop() error   { return p.handle.Signal(syscall.SIGSTOP) }
func (p process) resume() error { return p.handle.Signal(syscall.SIGCONT) }

// processes finds the functions that one system runs. It knows them by the address of AWS in their environment,
// which is unique to the system.
type processes struct {
	endpoint string
	proc     string // the directory in which the kernel lists processes
}

// function returns the name of the function that a process runs, or an empty string if the process is not one of
// the system's.
func (s processes) function(pid int) string {
	env, err := os.ReadFile(filepath.Join(s.proc, strconv.Itoa(pid), "environ"))
	if err != nil {
		return "" // the process has ended, or belongs to another user
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

// open returns the process with a number. It returns false if the process is not one of the system's.
func (s processes) open(pid int) (process, bool) {
	handle, err := os.FindProcess(pid)
	if err != nil {
		return process{}, false
	}
	// The check follows the opening of the handle, so that both refer to the same process.
	if name := s.function(pid); name != "" {
		return process{name, handle}, true
	}
	_ = handle.Release()
	return process{}, false
}

// pids returns the numbers of the processes that run the function.
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

// behind returns the process at the other end of a connection.
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

// inode returns the number of the socket of a connection between two loopback ports, seen from the first one's end.
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
