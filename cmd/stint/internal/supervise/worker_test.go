package supervise

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

// workOn is a worker's process: it runs one command, tells its pid and that of its
// supervisor, and its end. It is never settled: what then is up to the supervisor.
func workOn(text string) int {
	var j Job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		panic(err)
	}
	var s Supervisors
	c, err := s.Start(j, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	tell("supervisor", strconv.Itoa(c.supervisor.Process.Pid))
	tell("command", strconv.Itoa(c.PID()))
	end, err := json.Marshal(c.End())
	if err != nil {
		panic(err)
	}
	tell("end", string(end))
	select {}
}

// tell writes a line to the file that the test reads.
func tell(what, value string) {
	f, err := os.OpenFile(os.Getenv("STINT_TEST_TOLD"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, what, value)
}
