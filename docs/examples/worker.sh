#!/usr/bin/env bash
# worker.sh KIND COMMAND [ARG…]
#
# Runs COMMAND for each job of KIND, with the payload on its standard input. Exit code 0 completes the job: the
# output is its result, as JSON if it is JSON, else as text. Any other exit fails the attempt. SIGTERM ends the
# worker after the job at hand. Needs bash, curl and jq; keeps the rules of docs/conformance.md.
set -uo pipefail
server=${STINT_SERVER:-http://127.0.0.1:8480} token=${STINT_TOKEN:-$(cat stint.db.token)}
[[ -n $token ]] || { echo "no token: set STINT_TOKEN, or run where stint.db.token is" >&2; exit 3; }
kind=$1 worker=$(hostname)-$$ stopping=0 last='' dir=$(mktemp -d)
shift
trap 'stopping=1' TERM INT
trap 'rm -rf "$dir"' EXIT
printf 'header = "Authorization: Bearer %s"\nheader = "Content-Type: application/json"\n' "$token" >"$dir/curlrc"

# Times of an answer are compared with each other, never with this machine's clock.
times='def t: (.[:19] + "Z" | fromdate) + ("0" + .[19:-1] | tonumber);
    def left(to; from): if to then (to | t) - (from | t) + 0.01 | floor else 999999999 end;'

say() { printf '%(%T)T %s: %s\n' -1 "$id" "$*"; }

# post PATH NAME [OPTION…] sends $dir/body and sets status, 000 without a whole answer; the answer is in $dir/NAME.
post() {
    rm -f "$dir/$2"
    status=$(curl -sS -K "$dir/curlrc" -o "$dir/$2" -w '%{http_code}' --data-binary "@$dir/body" "${@:3}" "$server/v1/jobs/$1" 2>>"$dir/log") || status=000
}

# pause NAME prints how many seconds the answer asks to wait; 1 if it does not say.
pause() { jq -r '(.retry_after_ms // 1000) / 1000 | ceil' "$dir/$1" 2>>"$dir/log" | grep . || echo 1; }

# beat renews the lease. It sets end, the moment up to which the lease is held, 0 when it is lost, and limit.
beat() {
    local sent=$SECONDS held left
    printf '{"lease_token": %s}' "$lease_token" >"$dir/body"
    post "$id/heartbeat" beat --max-time $((lease / 4 + 1))
    case $status in
    200)
        read -r directive held left < <(jq -r "$times"'"\(.directive) \(if .now then "\(left(.lease_expires_at; .now)) \(left(.deadline_at; .now))" else '$lease' end)"' "$dir/beat")
        end=$((sent + held)) next=$((sent + held / 3))
        [[ -z $left ]] || limit=$((sent + left)) ;;
    404 | 409) end=0 next=999999999 ;;
    *) next=$((SECONDS + $(pause beat))); say "no heartbeat for now: $status" ;;
    esac
}

# finish ACTION sends the report in $dir/body until it is answered. The same finish again changes nothing.
finish() {
    while ((SECONDS < end + 60)); do
        post "$id/$1" finish --max-time 20
        case $status in
        2??) say "$1"; return ;;
        400 | 413 | 422) # the result is refused, and the work is done all the same
            jq -e .result "$dir/body" >>"$dir/log" || break
            printf '{"lease_token": %s}' "$lease_token" >"$dir/body" ;;
        000 | 408 | 429 | 5??) sleep "$(pause finish)" ;;
        *) break ;;
        esac
    done
    say "$1 not taken: $status $(jq -r .code "$dir/finish" 2>>"$dir/log")"
}

# work runs the command in a process group of its own, and ends the group when it must not go on.
work() {
    local command code why='' kill_at=0
    set -m
    "$@" <<<"$payload" >"$dir/out" 2>"$dir/err" &
    command=$!
    set +m
    say "begins, process $command"
    while kill -0 $command; do
        sleep 0.2
        ((SECONDS < next)) || beat
        if ((SECONDS >= end)); then why=lost kill_at=0 # another worker may have the job
        elif [[ -n $why ]]; then :
        elif [[ $directive == cancel ]]; then why=cancelled kill_at=$((SECONDS + 10))
        elif ((SECONDS >= limit - 3)); then why=timeout kill_at=$((limit - 2)); fi
        [[ -z $why ]] || kill -TERM -- -$command
        [[ -z $why ]] || ((SECONDS < kill_at)) || kill -KILL -- -$command
    done 2>>"$dir/log"
    wait $command 2>>"$dir/log"
    code=$?
    kill -KILL -- -$command 2>>"$dir/log" # what it left running
    [[ -z $why ]] || say "$why: ended the command"
    [[ $why != lost ]] || return
    if ((code == 0)) && [[ $why != timeout ]]; then
        tail -c 262144 "$dir/out" | tr -d '\0' | jq -Rs --argjson t "$lease_token" '. as $text | {lease_token: $t, result: (try fromjson catch $text[-40000:])}' >"$dir/body"
        finish complete
    else
        [[ $why == timeout ]] || why=exit_$code
        tail -c 4000 "$dir/err" | tr -d '\0' | jq -Rs --argjson t "$lease_token" --arg c "$why" '{lease_token: $t, error: {code: $c, message: .}}' >"$dir/body"
        finish fail
    fi
}

while ((!stopping)); do
    # A claim whose answer was lost is repeated as it was: the key brings the same job.
    id=claim directive='' sent=$SECONDS key=$worker-$RANDOM$RANDOM$RANDOM-$SECONDS
    jq -n --arg w "$worker" --arg k "$kind" '{worker: $w, kinds: [$k], wait_seconds: 20}' >"$dir/body"
    while asked=$SECONDS && post claim claim --max-time 45 -H "Idempotency-Key: $key" && [[ $status != 200 ]]; do
        say "not answered: $status"
        case $status in
        000 | 408 | 409 | 429 | 5??) ((stopping)) && exit; sleep "$(pause claim)" ;;
        *) say "refused: $(jq -r .code "$dir/claim")"; exit 1 ;;
        esac
    done
    { read -r poll_after && read -r id lease_token lease limit && read -r payload; } < <(jq -r "$times"'.poll_after_ms / 1000, (.jobs[0] // empty |
        "\(.id) \(.lease_token | @json) \(left(.lease_expires_at; .updated_at)) \(left(.deadline_at; .updated_at))", (.payload | @json))' "$dir/claim") || {
        ((SECONDS > asked + 1)) || sleep "$poll_after" # nothing to do
        continue
    }
    end=$((sent + lease)) limit=$((sent + limit)) next=$((sent + lease / 3))
    ((SECONDS <= sent + 1)) || beat # the claim waited: is the lease held, and how much is left of the time limit?
    [[ $lease_token == "$last" ]] || ((SECONDS >= end)) || work "$@"
    last=$lease_token
done
