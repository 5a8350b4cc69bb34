package ffmpeg

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// niceness returns the niceness of each thread of this process's children.
func niceness(t *testing.T) (all []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/task/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		// The name of the program, which is in parentheses, may have spaces.
		fields := strings.Fields(string(stat[strings.LastIndex(string(stat), ")")+1:]))
		if parent, nice := fields[1], fields[16]; parent == fmt.Sprint(os.Getpid()) {
			all = append(all, nice)
		}
	}
	return all
}

func TestARunHasALowPriority(t *testing.T) {
	low := tool(t)
	low.Nice = 19
	seen := 0
	_, err := low.Run(t.Context(), Job{
		Dir: t.TempDir(), Inputs: []Input{gray}, Filter: "[0:v]null[out]",
		Output: []string{"-map", "[out]", "-frames:v", "90", "-c:v", "libx264", "-f", "mp4", "out.mp4"},
		Progress: func(int) {
			for _, nice := range niceness(t) {
				if seen++; nice != "19" {
					t.Errorf("a thread of ffmpeg has a niceness of %s", nice)
				}
			}
		},
	})
	if err != nil || seen == 0 {
		t.Errorf("%d threads were seen, %v", seen, err)
	}
}
