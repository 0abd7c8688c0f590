package supervise

import (
	"runtime"
	"sync"
)

// Go ends a process that needs one more thread and gets none. A command may use up
// the processes of its user, and threads count as such; so enough of them are made
// before one starts. Go keeps them.
const (
	// supervisorProcs is how many threads of a supervisor run Go at a time; any
	// more than that wait in the kernel.
	supervisorProcs = 2
	// supervisorThreads are one for every goroutine of a supervisor that may wait in
	// the kernel while others run, and for those that run.
	supervisorThreads = supervisorProcs + 8
	// workerThreads are the same for a worker, beside those that run, and beside one
	// for every command: it may wait there for the death of a supervisor.
	workerThreads = 12
)

// holdThreads returns when the process has n threads to spare.
func holdThreads(n int) {
	var locked, released sync.WaitGroup
	release := make(chan struct{})
	locked.Add(n)
	for range n {
		released.Go(func() {
			runtime.LockOSThread() // a goroutine that waits takes its thread with it
			defer runtime.UnlockOSThread()
			locked.Done()
			<-release
		})
	}
	locked.Wait()
	close(release)
	released.Wait()
}
