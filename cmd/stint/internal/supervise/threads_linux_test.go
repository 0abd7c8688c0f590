package supervise

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A command that forks all the time leaves its user no process, and no thread.
// Supervisor and worker must not need any: Go would end them.
func TestWorkerAndSupervisorOutliveAForkBomb(t *testing.T) {
	t.Parallel()
	a := newApart(t, "")
	a.job.Path, a.job.Args = "/proc/self/exe", []string{"bomb"}
	a.job.Env = append(a.job.Env, "STINT_TEST_BOMB=1")
	user := os.Getuid()
	if user == 0 { // which has no such limit
		user = 1<<20 + os.Getpid()
		a.asUser(user)
	}
	a.cmd.Env = append(a.cmd.Env, "STINT_TEST_PROCESSES="+strconv.Itoa(threadsOf(user)+100))
	a.start()
	await(t, "a supervisor with threads", func() bool { return strings.Contains(a.read("attempt"), "threads\n") })
	a.tell("threads")
	await(t, "a worker with threads", func() bool { return strings.Contains(a.read("worker"), "threads\n") })
	a.tell("kill")
	end, _ := a.settle()
	a.nothingLeft()
	if end.Alone || !end.Asked || end.Left != nil {
		t.Errorf("ended as %+v", end)
	}
}

// threadsOf is how many threads a user has.
func threadsOf(user int) (n int) {
	for _, p := range processes() {
		dir := "/proc/" + strconv.Itoa(p.pid)
		var stat unix.Stat_t
		if unix.Stat(dir, &stat) != nil || int(stat.Uid) != user {
			continue
		}
		tasks, _ := os.ReadDir(dir + "/task")
		n += len(tasks)
	}
	return n
}
