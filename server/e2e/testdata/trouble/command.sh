# The command of a troubled worker: sh command.sh DIR. DIR/KEY, KEY being the
# job's, says in shell variables how its first attempt behaves under that worker;
# any other is short. Whatever it starts inherits two locks, so the kernel holds each of them
# until the last process of the attempt has ended.
dir=$1
if [ "${2-}" = hop ]; then # a process that is always another one
	sleep 0.1
	[ -e "$dir/over" ] && exit
	setsid sh "$0" "$dir" hop &
	exit
fi

exec 7>"$dir/events" 8>>"$dir/runs/$STINT_RUN_ID" 9>>"$dir/jobs/$STINT_JOB_ID"
tell() { echo "$1 $STINT_RUN_ID $STINT_KEY $$" >&7; }
flock -n 9 || tell overlap
flock -n 8
tell begin

forks=0 sessions=0 daemons=0 hops=0 deaf= quiet= talk=0 seconds=0.2 end=0
if [ "$STINT_WORKER" = troubled ] && mkdir "$dir/jobs/$STINT_JOB_ID.begun" 2>/dev/null; then
	. "$dir/$STINT_KEY"
fi

# lasting keeps the command's outputs open, unless quiet is set.
lasting() {
	if [ "$quiet" ]; then "$@" sleep 600 >/dev/null 2>&1; else "$@" sleep 600; fi
}
if [ "$deaf" ]; then trap '' TERM HUP INT QUIT; fi
while [ $((forks -= 1)) -ge 0 ]; do lasting & done
while [ $((sessions -= 1)) -ge 0 ]; do lasting setsid & done
while [ $((daemons -= 1)) -ge 0 ]; do (lasting setsid setsid &); done
while [ $((hops -= 1)) -ge 0 ]; do setsid sh "$0" "$dir" hop & done
while [ $((talk -= 1)) -ge 0 ]; do echo 'a line of output that nobody will read, perhaps'; done

sleep "$seconds" || exit 143 # asked to end
if [ "$end" != 0 ]; then exit "$end"; fi
echo '{"done":true}'
tell exit0
exit 0
