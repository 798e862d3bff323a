# bash completion of ioscribe, made by "ioscribe generate completion".
_ioscribe()
{
	local cur=${COMP_WORDS[COMP_CWORD]} cmd=${COMP_WORDS[0]##*/} words=
	if [ "$cmd" = ioscribe ]; then
		if [ "$COMP_CWORD" -eq 1 ] || [[ $COMP_CWORD -eq 2 && ${COMP_WORDS[1]} == help ]]; then
			mapfile -t COMPREPLY < <(compgen -W "run job trace publish top doctor logdir parse dxt summary advise report convert diff merge export analyze store query serve help --help --version" -- "$cur")
			return
		fi
		cmd=${COMP_WORDS[1]}
	fi
	case $cmd in
	run) words="--log --force --log-dir --exclude --include --no-runtime --quiet --report --config --records --best-effort --require-trace --service-wait --dxt --stream --all-types --set --private --verbose --help --version" ;;
	job) words="--job-id --uid --gid --cgroup --match-env --below --pid --nodes --node --attempt --deadline --stream --timeout --no-start --stay --config --last-node --hook --log-dir --line --json --quiet --help --version" ;;
	trace) words="--job --seconds --rank --file --output --force --stop --help --version" ;;
	publish) words="--job --pid --node --notify --help --version" ;;
	top) words="--job --view --sort --filter --pid --interval --rows --once --json --lines --count --help --version" ;;
	doctor) words="--service --features --selftest --user --help --version" ;;
	logdir) words="--check --layout --years --users --help --version" ;;
	parse | darshan-parser) words="--all --base --file --perf --total --show-incomplete --apmpi --escape --help --version" ;;
	dxt | darshan-dxt-parser) words="--show-incomplete --escape --file --rank --from --to --json --csv --help --version" ;;
	summary) words="--brief --json --files --help --version" ;;
	advise) words="--json --rules --list --help --version" ;;
	report) words="--output --help --version" ;;
	convert | darshan-convert) words="--zlib --bzip2 --zstd --uncompressed --level --layout --rows --obfuscate --obfuscate_jobid --obfuscate_uid --obfuscate_exe --obfuscate_names --key --annotate --reset-md --file --force --help --version" ;;
	diff | darshan-diff) words="--help --version" ;;
	merge | darshan-merge) words="--output --force --shared-redux --job-end-time --bzip2 --threads --without-bad --help --version" ;;
	export) words="--json --json-lines --csv --sqlite --output --table --help --version" ;;
	analyze | darshan-analyzer) words="--jobs --top --quiet --help --version" ;;
	store) words="--db --follow --stream-user --erase --keep --help --version" ;;
	query) words="--db --csv --json --list --questions --help --version" ;;
	serve) words="--db --listen --token-file --questions --logs --help --version" ;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	else
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}
complete -F _ioscribe ioscribe darshan-parser darshan-dxt-parser darshan-convert darshan-diff darshan-merge darshan-analyzer
